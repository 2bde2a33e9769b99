// Generated from packages/contract/openapi.json by "npm run generate". Do not edit.

export type AbortUpload = Readonly<Record<string, unknown>> | null;

export type ApiKey = {
  readonly key_id: number;
  readonly name: string;
  readonly scopes: readonly string[];
  /** ISO 8601, UTC. */
  readonly created_at: string;
  /** The key or console session that created the key. Null for the operator. */
  readonly created_by: string | null;
  /** When the key was last used, accurate to about a minute. Null if it was never used. */
  readonly last_used_at: string | null;
  /** When the key stops working. Null if it never expires. */
  readonly expires_at: string | null;
  /** When the key was revoked. */
  readonly revoked_at: string | null;
  /** Whether this request was sent with the key. */
  readonly current: boolean;
};

export type AppendFiles = {
  /** The path of a file, or a prefix of many files, relative to the partner's prefix. */
  readonly file_path?: string | undefined;
  /** The new name of the audience. Nothing is loaded. */
  readonly name?: string | undefined;
};

export type Attribute = {
  readonly attribute_id: number;
  readonly name: string;
  readonly foreign_keys: readonly string[];
  /** A retired attribute accepts no imports. Its data can still be deleted. */
  readonly retired: boolean;
};

export type Audience = {
  readonly audience_id: number;
  readonly name: string;
  /** The customer that owns the audience. Null for your own audiences. */
  readonly customer: string | null;
  /** Distinct devices in the audience. */
  readonly unique_devices: number;
  /** The segment ID to use in the deep link to the composition report. */
  readonly default_warehouse_segment_id: number;
  /** 0 pending, 1 running, 2 done, 3 error. */
  readonly status: 0 | 1 | 2 | 3;
  /** ISO 8601, UTC. */
  readonly created_at: string;
  /** ISO 8601, UTC. */
  readonly updated_at: string;
  /** The sum of the distinct device counts of all loaded files. */
  readonly uploaded_devices: number;
  /** Distinct devices that also exist in the device warehouse. If the audience has fewer than 1,000 devices, the number is rounded down, by default to a multiple of 50. */
  readonly matched_devices: number;
  /** When `matched_devices` was counted. Later imports are not included. Null until a file has been loaded. */
  readonly matched_at: string | null;
};

export type AudienceAppend = {
  /** Cancel or retry the append with this ID. */
  readonly append_id: number;
  readonly file_path: string;
  /** 0 pending, 1 running, 2 done, 3 error. */
  readonly status: 0 | 1 | 2 | 3;
  /** Number of files that the append loads. Null until they are listed. */
  readonly files: {
    readonly all: number;
    readonly loaded: number;
    readonly failed: number;
  } | null;
  /** Rows of the loaded files. */
  readonly rows_uploaded: number;
  readonly progress: Progress;
  /** Why the append failed. Null unless the status is 3. */
  readonly error: {
    /** A stable code. See docs/errors.md. */
    readonly code: string;
    readonly message: string;
  } | null;
  /** When the files were listed. Null while the append is waiting, and if listing the files failed. */
  readonly started_at: string | null;
  readonly finished_at: string | null;
  /** When the append was canceled. Null if it was not canceled. */
  readonly cancel_requested_at: string | null;
  /** Who canceled the append. */
  readonly cancel_requested_by: 'partner' | 'operator' | null;
  /** The API key or the user that canceled the append. Null if an operator or a subscription did it, or if it was done in an earlier release. */
  readonly canceled_by: string | null;
  /** The append that this one repeats. */
  readonly retry_of: number | null;
  /** Whether a later clear removed the devices or canceled the append. */
  readonly cleared: boolean;
};

/** An audience was cleared or deleted. Its files in progress have ended without separate events. */
export type AudienceClearedEvent = {
  /** Unique ID of the event, also sent as the header `webhook-id`. */
  readonly id: string;
  /** Position in your event log. If you can see all events, it starts at 1 and has no gaps. */
  readonly sequence: number;
  /** ISO 8601, UTC. */
  readonly created_at: string;
  /** The customer that the event concerns, or null for the account itself. */
  readonly customer: string | null;
  /** Path of the record that the event concerns. */
  readonly link: string;
  readonly type: 'audience.cleared' | 'audience.deleted';
  readonly data: {
    readonly audience_id: number;
    /** The ID that identifies the audience in requests for reports. */
    readonly default_warehouse_segment_id: number;
  };
};

export type AudienceDetails = {
  readonly audience_id: number;
  readonly name: string;
  /** The customer that owns the audience. Null for your own audiences. */
  readonly customer: string | null;
  /** Distinct devices in the audience. */
  readonly unique_devices: number;
  /** The segment ID to use in the deep link to the composition report. */
  readonly default_warehouse_segment_id: number;
  /** 0 pending, 1 running, 2 done, 3 error. */
  readonly status: 0 | 1 | 2 | 3;
  /** ISO 8601, UTC. */
  readonly created_at: string;
  /** ISO 8601, UTC. */
  readonly updated_at: string;
  /** The sum of the distinct device counts of all loaded files. */
  readonly uploaded_devices: number;
  /** Distinct devices that also exist in the device warehouse. If the audience has fewer than 1,000 devices, the number is rounded down, by default to a multiple of 50. */
  readonly matched_devices: number;
  /** When `matched_devices` was counted. Later imports are not included. Null until a file has been loaded. */
  readonly matched_at: string | null;
  /** Number of file entries, of which `file` contains the first 1,000. */
  readonly total_files: number;
  /** Number of file entries that are neither waiting nor loading. */
  readonly processed_files: number;
  /** Number of failed file entries, excluding those that no longer affect the status of the audience. */
  readonly failed_files: number;
  /** Rows that were skipped or caused their file to fail. `errors` lists the reasons. */
  readonly rejected_rows: number;
  /** Progress of the open appends or, if none is open, of the latest one. `queue_position` is the position of the first open append, and `estimated_seconds_left` is the estimate for the last one. */
  readonly progress: Progress;
  /** Each reason for failed files and rejected rows, with the number of files or rows and the first of them. Null if nothing failed. Dismissed entries are not counted. GET …/errors lists the files and rows. */
  readonly errors: readonly ImportLogError[] | null;
  /** The first 1,000 entries. If there are more, the `Link` header points to the next page. */
  readonly file: readonly AudienceFile[];
};

export type AudienceFile = {
  /** ID of this entry. Use it to dismiss a failed entry. It begins with `path-` for a path without files. */
  readonly file_id: string;
  /** The append that loads the entry. It can be canceled or retried. */
  readonly append_id: number;
  /** Object key, including the partner's prefix. */
  readonly s3_path: string;
  /** The loaded version of the object. Null for a path without files. */
  readonly etag: string | null;
  /** When the storage received this version of the object. Null for a path without files, and if it is not recorded. */
  readonly last_modified: string | null;
  /** 0 pending, 1 running, 2 done, 3 error. */
  readonly status: 0 | 1 | 2 | 3;
  readonly rows_uploaded: number;
  /** Rows that were skipped. GET …/errors lists the first of each reason. */
  readonly rows_rejected: number;
  /** Rows whose data is not stored because a deletion or an opt-out applies to their devices. The number is an estimate in thousands, so that it does not reveal which devices these are. All other counts include these rows. */
  readonly suppressed: number;
  /** Why the entry failed. Null unless the status is 3. */
  readonly error: {
    /** A stable code. See docs/errors.md. */
    readonly code: string;
    readonly message: string;
  } | null;
  /** When the failed entry was dismissed. It then no longer affects the status of the audience. */
  readonly dismissed_at: string | null;
  /** Who dismissed the entry: an API key (`key 3`) or a user of the console. Null if it is not recorded. */
  readonly dismissed_by: string | null;
  /** ISO 8601, UTC. */
  readonly updated_at: string;
};

/** An audience file has been loaded or has failed. */
export type AudienceFileEvent = {
  /** Unique ID of the event, also sent as the header `webhook-id`. */
  readonly id: string;
  /** Position in your event log. If you can see all events, it starts at 1 and has no gaps. */
  readonly sequence: number;
  /** ISO 8601, UTC. */
  readonly created_at: string;
  /** The customer that the event concerns, or null for the account itself. */
  readonly customer: string | null;
  /** Path of the record that the event concerns. */
  readonly link: string;
  readonly type: 'audience.file.finished';
  readonly data: {
    readonly audience_id: number;
    /** The ID that identifies the audience in requests for reports. */
    readonly default_warehouse_segment_id: number;
    /** The entry's `file_id` in the audience's file list. */
    readonly file_id: string;
    /** Object key, including the partner's prefix. */
    readonly s3_path: string;
    /** 2 done, 3 error. */
    readonly status: 2 | 3;
    /** Rows that were read, or rows that were deleted. */
    readonly total_rows: number;
    /** Why it failed, or null. See docs/errors.md. */
    readonly code: string | null;
  };
};

export type AudienceHistoryEntry = {
  readonly type: 'append' | 'clear';
  /** When the request was accepted. */
  readonly at: string;
  /** Who sent the request: an API key (`key 3`) or a console user. Null if it is not recorded. */
  readonly by: string | null;
  /** Null for a clear. */
  readonly append: AudienceAppend | null;
};

/** All files that were appended to an audience have been loaded or have failed, or its failed files were dismissed. */
export type AudienceReadyEvent = {
  /** Unique ID of the event, also sent as the header `webhook-id`. */
  readonly id: string;
  /** Position in your event log. If you can see all events, it starts at 1 and has no gaps. */
  readonly sequence: number;
  /** ISO 8601, UTC. */
  readonly created_at: string;
  /** The customer that the event concerns, or null for the account itself. */
  readonly customer: string | null;
  /** Path of the record that the event concerns. */
  readonly link: string;
  readonly type: 'audience.ready';
  readonly data: {
    readonly audience_id: number;
    /** The ID that identifies the audience in requests for reports. */
    readonly default_warehouse_segment_id: number;
    /** 2 if all files are loaded, and 3 if a file has failed. */
    readonly status: 2 | 3;
  };
};

export type AudienceRejects = {
  /** 0 pending, 1 running, 2 done, 3 error. */
  readonly status: 0 | 1 | 2 | 3;
  /** Number of files with rejected rows. 0 until the export starts. */
  readonly files_total: number;
  readonly files_done: number;
  readonly files_failed: number;
  readonly bytes_read: number;
  /** Total size of the files that are read again. */
  readonly bytes_total: number;
  /** Number of rejected rows in the files that are done. */
  readonly rows: number;
  readonly error: {
    /** A stable code. See docs/errors.md. */
    readonly code: string;
    readonly message: string;
  } | null;
  /** ISO 8601, UTC. */
  readonly requested_at: string;
  readonly finished_at: string | null;
  /** When the exported files are removed. Null until the export has finished. */
  readonly expires_at: string | null;
  readonly file: RejectsFile | null;
};

/** An export of the rejected rows of an audience file has ended. */
export type AudienceRejectsEvent = {
  /** Unique ID of the event, also sent as the header `webhook-id`. */
  readonly id: string;
  /** Position in your event log. If you can see all events, it starts at 1 and has no gaps. */
  readonly sequence: number;
  /** ISO 8601, UTC. */
  readonly created_at: string;
  /** The customer that the event concerns, or null for the account itself. */
  readonly customer: string | null;
  /** Path of the record that the event concerns. */
  readonly link: string;
  readonly type: 'audience.rejects.finished' | 'audience.rejects.failed';
  readonly data: {
    readonly audience_id: number;
    /** The ID that identifies the audience in requests for reports. */
    readonly default_warehouse_segment_id: number;
    /** The entry's `file_id` in the audience's file list. */
    readonly file_id: string;
    /** Rejected rows in the exported files. */
    readonly rows: number;
    /** Why it failed, or null. See docs/errors.md. */
    readonly code: string | null;
  };
};

export type CancelAppend = Readonly<Record<string, unknown>> | null;

export type CancelImport = Readonly<Record<string, unknown>> | null;

export type ClearAudience = Readonly<Record<string, unknown>> | null;

export type CompletedUpload = {
  /** The path to import or to load into an audience. */
  readonly file_path: string;
};

export type CompleteUpload = Readonly<Record<string, unknown>> | null;

export type Composition = {
  readonly audience_id: number;
  readonly default_warehouse_segment_id: number;
  readonly matched_devices: number;
  readonly warehouse_devices: number;
  readonly split: 'id_type' | 'country' | 'event' | null;
  /** What the report is compared with. Null for the whole warehouse. */
  readonly baseline: {
    readonly default_warehouse_segment_id?: number | undefined;
    readonly country?: string | undefined;
    /** Matched devices of the audience, or devices in the country. */
    readonly devices: number;
  } | null;
  /** If true, noise is added to counts, counts are rounded down, and small groups are hidden. */
  readonly protected: boolean;
  readonly computed_at: string;
  /** False if the audience or its baseline has changed since, and the privacy budget does not allow a new report. */
  readonly current: boolean;
  /** When a new report is possible. Null unless the privacy budget is spent. */
  readonly next_report_at: string | null;
  /** Numbers of entries on all pages. If `name` is set, only matching entries are counted. Omitted small groups are included. */
  readonly totals: {
    readonly entries: number;
    /** Entries of groups that are too small, including hidden ones. */
    readonly small: number;
    /** Entries whose counts are hidden. */
    readonly hidden: number;
  };
  readonly attributes: readonly CompositionEntry[];
};

export type CompositionEntry = {
  readonly attribute_id: number;
  readonly name: string;
  /** The partner that provides the attribute. Attributes of several partners can have the same name. */
  readonly provider: string;
  /** Value of the split field. Absent if the report is not split. */
  readonly value?: string | undefined;
  /** Matched devices with the attribute. Null if the count is hidden because the group is small. */
  readonly devices: number | null;
  readonly devices_range: DevicesRange;
  /** Share of the matched devices. */
  readonly share: number | null;
  /** Devices with the attribute in the whole warehouse. */
  readonly warehouse_devices: number;
  readonly warehouse_share: number | null;
  /** Devices with the attribute in the baseline. Null if the count is hidden or missing. Absent without a baseline. */
  readonly baseline_devices?: number | null | undefined;
  readonly baseline_share?: number | null | undefined;
  /** `share` divided by `warehouse_share`, or by `baseline_share` if there is a baseline. 1 is average, and 2 is twice the average. */
  readonly index: number | null;
  readonly index_range: IndexRange;
  /** True if the group is too small for reliable conclusions. */
  readonly small: boolean;
};

export type ConsoleLink = {
  /** Redirect the user to this address. It contains a secret and works once. */
  readonly url: string;
  /** ISO 8601, UTC. */
  readonly expires_at: string;
};

export type CreateApiKey = {
  /** The purpose of the key, at most 100 characters. */
  readonly name?: string | undefined;
  /** What the key can do. Only scopes that the caller has. */
  readonly scopes: readonly ('marketplace:read' | 'marketplace:write' | 'audience:read' | 'audience:write' | 'attributes:write' | 'keys:read' | 'keys:write' | 'customers:read' | 'customers:write' | 'storage:write' | 'webhooks:write' | 'privacy:write')[];
  /** Null if the key never expires. A key never outlives the key that creates it. */
  readonly expires_in_days?: number | null | undefined;
};

export type CreateAttribute = {
  /** A unique name of 1 to 100 characters. Composition reports show it, including those of other partners. */
  readonly name: string;
  /** Your own keys for the attribute, which files can contain instead of its ID. At most 1000. Each key has 1 to 200 characters, without `|`, control characters, or spaces at the ends. */
  readonly foreign_keys?: readonly string[] | undefined;
};

export type CreateAudience = {
  readonly name: string;
  /** The path of a file, or a prefix of many files, relative to the partner's prefix. */
  readonly file_path: string;
};

export type CreateConsoleLink = Readonly<Record<string, unknown>> | null;

export type CreateCustomer = {
  /** A unique name of 1 to 100 characters. A token from an OpenID Connect issuer identifies the customer by exactly this name. */
  readonly name: string;
};

export type CreatedApiKey = {
  readonly key_id: number;
  readonly name: string;
  readonly scopes: readonly string[];
  /** ISO 8601, UTC. */
  readonly created_at: string;
  /** The key or console session that created the key. Null for the operator. */
  readonly created_by: string | null;
  /** When the key was last used, accurate to about a minute. Null if it was never used. */
  readonly last_used_at: string | null;
  /** When the key stops working. Null if it never expires. */
  readonly expires_at: string | null;
  /** When the key was revoked. */
  readonly revoked_at: string | null;
  /** Whether this request was sent with the key. */
  readonly current: boolean;
  /** The API key, which is shown only here. Null in the response to a repeated request, because Inlet stores only a hash. */
  readonly api_key: string | null;
};

export type CreatedAudience = {
  readonly audience_id: number;
  readonly default_warehouse_segment_id: number;
};

export type CreatedSubscription = {
  readonly subscription_id: number;
};

export type CreatedUserToken = {
  readonly token_id: number;
  readonly customer_id: number;
  /** ISO 8601, UTC. */
  readonly created_at: string;
  /** The key or console session that created the token. Null for the operator. */
  readonly created_by: string | null;
  readonly revoked_at: string | null;
  /** The user token, which is shown only here. Null in the response to a repeated request, because Inlet stores only a hash. */
  readonly user_token: string | null;
};

export type CreatedWebhook = {
  readonly webhook_id: number;
  /** The secret with which events are signed. It is shown only once. */
  readonly secret: string;
};

export type CreateSubscription = {
  /** Objects whose path starts with this text are imported. It is relative to the partner's prefix. A folder ends with `/`. */
  readonly prefix: string;
  /** 0 (attribute IDs) or 1 (your foreign keys). */
  readonly key_type: 0 | 1;
  /** Whether the files are gzipped. */
  readonly compressed: boolean;
  /** Whether the objects that exist when the subscription is created are imported. */
  readonly existing?: 'import' | 'skip' | undefined;
  /** When the objects that have arrived are imported. Exactly one field is set. */
  readonly trigger?: {
    /** When nothing has changed under the prefix for this long, imports the objects that have arrived. With 0, imports them as soon as they are seen. An object waits at most 10 times as long. */
    readonly quiet_seconds?: number | undefined;
    /** Imports the objects of a folder when an object with this name, for example `_SUCCESS`, is written after them into the folder or a folder above it. */
    readonly marker?: string | undefined;
    /** Imports the objects that have arrived at this interval. */
    readonly every_seconds?: number | undefined;
    /** Once a day, at this time (UTC), imports the objects that have arrived. */
    readonly daily_at?: string | undefined;
  } | undefined;
};

export type CreateUserToken = Readonly<Record<string, unknown>> | null;

export type CreateWebhook = {
  /** Where events are sent. It must start with `https://` and have a public address. */
  readonly url: string;
  /** A note for yourself. */
  readonly description?: string | undefined;
  /** The types of events that are sent. Null for all types, including types that later releases add. */
  readonly event_types?: readonly ('import.finished' | 'import.failed' | 'import.rejects.finished' | 'import.rejects.failed' | 'delete.finished' | 'delete.failed' | 'audience.file.finished' | 'audience.ready' | 'audience.cleared' | 'audience.deleted' | 'audience.rejects.finished' | 'audience.rejects.failed' | 'report.ready' | 'subscription.too_many_objects' | 'webhook.failing' | 'webhook.disabled')[] | null | undefined;
};

export type Customer = {
  readonly customer_id: number;
  readonly name: string;
};

export type DeleteAttributeData = {
  /** 0 (attribute IDs) or 1 (your foreign keys). */
  readonly key_type: 0 | 1;
  /** The attributes whose data is deleted. `key_type` determines whether these are attribute IDs or foreign keys. */
  readonly keys: readonly string[];
};

export type DeleteAudience = Readonly<Record<string, unknown>> | null;

/** A delete has ended. */
export type DeleteEvent = {
  /** Unique ID of the event, also sent as the header `webhook-id`. */
  readonly id: string;
  /** Position in your event log. If you can see all events, it starts at 1 and has no gaps. */
  readonly sequence: number;
  /** ISO 8601, UTC. */
  readonly created_at: string;
  /** The customer that the event concerns, or null for the account itself. */
  readonly customer: string | null;
  /** Path of the record that the event concerns. */
  readonly link: string;
  readonly type: 'delete.finished' | 'delete.failed';
  readonly data: {
    /** The import or delete. */
    readonly import_log_id: number;
    /** Rows that were read, or rows that were deleted. */
    readonly total_rows: number;
    /** Why it failed, or null. See docs/errors.md. */
    readonly code: string | null;
  };
};

export type DeleteSubscription = Readonly<Record<string, unknown>> | null;

export type DeleteWebhook = Readonly<Record<string, unknown>> | null;

export type Deletion = {
  readonly deletion_id: number;
  /** 0 pending, 1 running, 2 done, 3 error. */
  readonly status: 0 | 1 | 2 | 3;
  readonly source: 'ids' | 'file';
  /** Number of device IDs. 0 until the file is read. */
  readonly ids: number;
  /** Lines of the file that are not device IDs. */
  readonly invalid_lines: number;
  /** `loads`: loads that started earlier are not published. `index`: the device index is being updated. `servers`: an error, such as an unavailable server. `replaced_parts`: files of replaced data are not removed from disk yet. `detached_parts`: the operator has to remove detached data. */
  readonly waiting_for: 'loads' | 'index' | 'servers' | 'replaced_parts' | 'detached_parts' | null;
  readonly error: {
    /** A stable code. See docs/errors.md. */
    readonly code: string;
    readonly message: string;
  } | null;
  readonly has_proof: boolean;
  /** ISO 8601, UTC. */
  readonly requested_at: string;
  readonly finished_at: string | null;
};

export type DeletionProof = {
  readonly format: 'inlet-erasure-proof-1';
  readonly deletion_id: number;
  /** Deletions that ran together. They share the counts. */
  readonly batch_id: number;
  readonly scope: 'partner' | 'all';
  readonly partner_id: number | null;
  readonly ids: number;
  readonly invalid_lines: number;
  /** The salt, as text, which is hashed before the list in `ids_sha256`. It is not signed. Remove it before you pass the proof on. Otherwise, others can check whether the list consists of a certain ID. */
  readonly ids_salt: string;
  /** SHA-256 of `ids_salt` followed by the file as it is stored, or by the sorted IDs. Each ID occurs once, in lowercase with hyphens, and is followed by a line feed. */
  readonly ids_sha256: string;
  /** ISO 8601, UTC. */
  readonly requested_at: string;
  /** ISO 8601, UTC. */
  readonly started_at: string;
  /** When no row remained on any replica. */
  readonly erased_at: string;
  /** When the files of replaced data were removed. */
  readonly finished_at: string;
  readonly erased: readonly ({
    readonly table: string;
    readonly shard: number;
    readonly rows_erased: number;
  })[];
  readonly remaining: readonly ({
    readonly table: string;
    readonly shard: number;
    readonly replica: number;
    readonly rows_remaining: number;
  })[];
  /** SHA-256 of the same proof as CSV. */
  readonly csv_sha256: string;
  /** Null if the operator has not configured a key. */
  readonly signature: {
    readonly algorithm: 'Ed25519';
    readonly key_id: string;
    /** 32 bytes, Base64. Compare it with your operator's key. */
    readonly public_key: string;
    /** Base64. */
    readonly value: string;
  } | null;
};

/** The exact count is in this range, which includes the noise and the rounding. */
export type DevicesRange = {
  readonly low: number;
  readonly high: number;
} | null;

export type DismissFile = Readonly<Record<string, unknown>> | null;

export type DryRun = {
  readonly files_total: number;
  readonly bytes_total: number;
  /** The first 20 files. */
  readonly files: readonly DryRunFile[];
  /** Why the whole import would fail. */
  readonly error: {
    /** A stable code. See docs/errors.md. */
    readonly code: string;
    readonly message: string;
  } | null;
};

export type DryRunFile = {
  readonly file: string;
  readonly bytes: number;
  /** Whether the file is gzipped. Null if it was not read. */
  readonly compressed: boolean | null;
  /** The columns of the file. Null if they are unknown. */
  readonly columns: readonly string[] | null;
  readonly delimiter: string | null;
  /** Line number of the header. Null if the file has none. */
  readonly header_row: number | null;
  /** Number of accepted rows in the sample. */
  readonly accepted_rows: number;
  /** Number of rejected rows in the sample. */
  readonly rejected_rows: number;
  /** Whether the sample is the whole file. */
  readonly complete: boolean;
  readonly reasons: readonly ({
    /** A stable code. See docs/errors.md. */
    readonly code: string;
    readonly message: string;
    readonly column: string | null;
    readonly row: number;
    readonly count: number;
  })[];
  /** Why the file would fail. */
  readonly error: {
    /** A stable code. See docs/errors.md. */
    readonly code: string;
    readonly message: string;
  } | null;
};

/** What happened. Ignore types that you do not know. */
export type Event = ImportEvent | ImportRejectsEvent | DeleteEvent | AudienceFileEvent | AudienceReadyEvent | AudienceClearedEvent | AudienceRejectsEvent | ReportEvent | SubscriptionEvent | WebhookEvent | WebhookDisabledEvent;

/** An import has ended. */
export type ImportEvent = {
  /** Unique ID of the event, also sent as the header `webhook-id`. */
  readonly id: string;
  /** Position in your event log. If you can see all events, it starts at 1 and has no gaps. */
  readonly sequence: number;
  /** ISO 8601, UTC. */
  readonly created_at: string;
  /** The customer that the event concerns, or null for the account itself. */
  readonly customer: string | null;
  /** Path of the record that the event concerns. */
  readonly link: string;
  readonly type: 'import.finished' | 'import.failed';
  readonly data: {
    /** The import or delete. */
    readonly import_log_id: number;
    /** Rows that were read, or rows that were deleted. */
    readonly total_rows: number;
    /** Files of the import. */
    readonly files: number;
    /** Files that were not loaded. */
    readonly failed_files: number;
    /** Why it failed, or null. See docs/errors.md. */
    readonly code: string | null;
  };
};

export type ImportFile = {
  readonly file: string;
  /** 0 pending, 1 running, 2 done, 3 error. */
  readonly status: 0 | 1 | 2 | 3;
  readonly total_rows: number;
  readonly rejected_rows: number;
  /** Rows whose data is not stored because a deletion or an opt-out applies to their devices. The number is an estimate in thousands, so that it does not reveal which devices these are. All other counts include these rows. */
  readonly suppressed: number;
  readonly bytes: number;
  readonly bytes_read: number;
  /** When the storage received this version of the object. Null if it is not recorded. */
  readonly last_modified: string | null;
  readonly error: {
    /** A stable code. See docs/errors.md. */
    readonly code: string;
    readonly message: string;
  } | null;
  /** ISO 8601, UTC. */
  readonly updated_at: string;
};

export type ImportLog = {
  readonly import_log_id: number;
  readonly file_path: string;
  /** 0 (the shared bucket) or 1 (your own bucket). */
  readonly path_type: 0 | 1;
  /** 0 (attribute IDs) or 1 (your foreign keys). */
  readonly key_type: 0 | 1;
  /** 0 pending, 1 running, 2 done, 3 error. */
  readonly status: 0 | 1 | 2 | 3;
  /** 0 import, 1 delete. */
  readonly log_type: 0 | 1;
  /** Whether the import merges with or replaces the existing data. Null for a delete. */
  readonly mode: 'merge' | 'replace' | null;
  /** For a delete: the submitted keys. */
  readonly keys: readonly string[] | null;
  /** A number as a string. */
  readonly unique_devices: string;
  /** A number as a string. */
  readonly total_rows: string;
  /** Rows whose data is not stored because a deletion or an opt-out applies to their devices. The number is an estimate in thousands, so that it does not reveal which devices these are. All other counts include these rows. */
  readonly suppressed: number;
  readonly errors: readonly ImportLogError[] | null;
  /** ISO 8601, UTC. */
  readonly created_at: string;
  /** ISO 8601, UTC. */
  readonly updated_at: string;
  /** When the files were listed. Null while the job is waiting. */
  readonly started_at: string | null;
  /** Null until the job has finished. */
  readonly finished_at: string | null;
  /** When the job was canceled. Null if it was not canceled. */
  readonly cancel_requested_at: string | null;
  /** Who canceled the job. */
  readonly cancel_requested_by: 'partner' | 'operator' | null;
  /** The API key or the user that canceled the job. Null if an operator or a subscription did it, or if it was done in an earlier release. */
  readonly canceled_by: string | null;
  /** The API key or the user that requested the import. Null if an operator or a subscription did it, or if it was done in an earlier release. */
  readonly requested_by: string | null;
  /** The import that this one repeats. */
  readonly retry_of: number | null;
  /** The subscription that created this import. */
  readonly subscription_id: number | null;
  readonly progress: Progress;
};

export type ImportLogError = {
  /** A stable code. See docs/errors.md. */
  readonly code: string;
  readonly message: string;
  /** The path of the file, as listed by GET …/files. Null if the error concerns the whole job. */
  readonly file: string | null;
  /** Line number of the first row with this code. Line numbers start at 1. */
  readonly row: number | null;
  readonly column: string | null;
  /** Number of rows or files with this error. */
  readonly count: number;
};

/** An export of the rejected rows of an import has ended. */
export type ImportRejectsEvent = {
  /** Unique ID of the event, also sent as the header `webhook-id`. */
  readonly id: string;
  /** Position in your event log. If you can see all events, it starts at 1 and has no gaps. */
  readonly sequence: number;
  /** ISO 8601, UTC. */
  readonly created_at: string;
  /** The customer that the event concerns, or null for the account itself. */
  readonly customer: string | null;
  /** Path of the record that the event concerns. */
  readonly link: string;
  readonly type: 'import.rejects.finished' | 'import.rejects.failed';
  readonly data: {
    /** The import or delete. */
    readonly import_log_id: number;
    /** Rejected rows in the exported files. */
    readonly rows: number;
    /** Files with rejected rows. */
    readonly files: number;
    /** Files that were not exported. */
    readonly failed_files: number;
    /** Why it failed, or null. See docs/errors.md. */
    readonly code: string | null;
  };
};

/** The exact index is in this range. If it contains 1, the difference may be noise. Null if it has no upper limit. */
export type IndexRange = {
  readonly low: number;
  readonly high: number;
} | null;

export type Limits = {
  /** Maximum number of requests per minute with this API key, or across all console sessions of a user. */
  readonly requests_per_minute_per_key: number;
  /** Maximum number of requests per minute across all of the partner's API keys, and separately across all of its console sessions. */
  readonly requests_per_minute_per_partner: number;
  /** Maximum number of unfinished jobs per partner. Up to 20 deletes are accepted beyond this limit. */
  readonly open_jobs: number;
  /** Maximum number of uploads over HTTP that can be continued. */
  readonly open_uploads: number;
  /** Maximum number of exports of rejected rows that are waiting or running. */
  readonly open_exports: number;
  /** Maximum number of deletions of devices that are waiting or running. */
  readonly open_deletions: number;
  /** Maximum number of streams and waiting requests per API process. */
  readonly waiting_requests: number;
  /** Maximum number of files in one job. */
  readonly files_per_prefix: number;
  /** Maximum number of keys in one delete request. */
  readonly keys_per_delete: number;
  /** Maximum share of rejected rows in an audience file. With 0, one rejected row fails the file. */
  readonly audience_bad_row_share: number;
  /** Whether files may contain IDs without hyphens. If not, they are rejected as `hashed_id`. */
  readonly unhyphenated_ids: boolean;
  /** Number of days after which an attribute of a device is removed, counted from the end of the last import that contained the device with the attribute. Missing if attributes are kept until you delete them. Audiences are not affected. */
  readonly device_days?: number | undefined;
  /** Maximum size of a gzipped file. */
  readonly gzip_file_bytes: number;
  /** Maximum size of an uncompressed file, and of a gzipped file after decompression. */
  readonly plain_file_bytes: number;
  /** Maximum length of a line. A longer line is rejected. */
  readonly line_bytes: number;
  /** Maximum size of a request body. */
  readonly body_bytes: number;
  /** Maximum size of the request headers, including the path. */
  readonly header_bytes: number;
  /** The privacy budget of the last 30 days. With a user token, it is the customer's budget, and otherwise the budget of your own audiences. A limit of 0 means that there is no limit. */
  readonly reports: {
    /** New composition reports. */
    readonly composition: {
      readonly limit: number;
      readonly used: number;
      /** When the oldest part of `used` will stop counting. Null if nothing is used. */
      readonly renews_at: string | null;
    };
    /** New overlaps. An overlap counts once for every published number that depends on one device. */
    readonly overlap: {
      readonly limit: number;
      readonly used: number;
      /** When the oldest part of `used` will stop counting. Null if nothing is used. */
      readonly renews_at: string | null;
    };
  };
  /** What you can store. Above a quota, the response is 422 `quota_exceeded`. Absent in the console for customers and for links to a report, because the usage covers the whole partner. */
  readonly quotas?: {
    /** Rows of your attributes and audiences, including duplicates that are not merged yet and deleted rows that are not purged yet. */
    readonly stored_rows: {
      readonly limit: number;
      readonly used: number;
      /** When `used` was measured. Null before the first measurement. */
      readonly measured_at: string | null;
    };
    /** Bytes that these rows occupy, rounded up to the next gigabyte. */
    readonly stored_bytes: {
      readonly limit: number;
      readonly used: number;
      /** When `used` was measured. Null before the first measurement. */
      readonly measured_at: string | null;
    };
    /** Your audiences, including the audiences of your customers. */
    readonly audiences: {
      readonly limit: number;
      readonly used: number;
    };
    /** Your attributes, including retired ones. */
    readonly attributes: {
      readonly limit: number;
      readonly used: number;
    };
    /** Your foreign keys. */
    readonly foreign_keys: {
      readonly limit: number;
      readonly used: number;
    };
    /** Your webhooks. With a user token, `used` is 0. */
    readonly webhooks: {
      readonly limit: number;
      readonly used: number;
    };
    /** Your subscriptions. With a user token, `used` is 0. */
    readonly subscriptions: {
      readonly limit: number;
      readonly used: number;
    };
    /** Requests with an `Idempotency-Key` in the last 24 hours. */
    readonly idempotency_keys: {
      readonly limit: number;
      readonly used: number;
      /** When `used` was measured. Null before the first measurement. */
      readonly measured_at: string | null;
    };
  } | undefined;
};

export type Live = {
  readonly status: 'ok';
};

export type LoadError = {
  /** Null if the error concerns the whole job. */
  readonly file: string | null;
  readonly row: number | null;
  readonly column: string | null;
  /** A stable code. See docs/errors.md. */
  readonly code: string;
  readonly message: string;
  /** The first 200 bytes of the rejected line. Unprintable bytes are shown as \xNN. */
  readonly text: string | null;
};

export type LoggedTest = {
  readonly sequence: number;
};

export type OperatorAlert = {
  /** Name of the alert, as in `deploy/observability/alerts.yml`. */
  readonly name: string;
  readonly severity: 'critical' | 'warning';
  /** When the condition began. Null if that is unknown. */
  readonly since: string | null;
  /** The measured value, for example an age in seconds. Null if the condition has none. */
  readonly value: number | null;
  /** What is wrong, in one sentence. */
  readonly message: string;
  /** The page and section that describe what to do, relative to the repository. */
  readonly runbook: string;
};

export type OperatorAlerts = {
  /** ISO 8601, UTC. */
  readonly evaluated_at: string;
  readonly alerts: readonly OperatorAlert[];
};

export type OperatorBackup = {
  readonly backup_id: number;
  readonly outcome: 'complete' | 'failed';
  /** ISO 8601, UTC. */
  readonly started_at: string;
  /** ISO 8601, UTC. */
  readonly finished_at: string;
  /** The point in time whose state a restore brings back. Null if the backup failed. */
  readonly taken_at: string | null;
  /** Size of the dump and of the ClickHouse backups. Null if the backup failed. */
  readonly bytes: number | null;
  /** Folder of the dump, and the disk of the ClickHouse backups. */
  readonly destination: string;
  /** Why the backup failed. Null if it is complete. */
  readonly error: string | null;
};

export type OperatorBackups = {
  /** The backup to restore. Null if no complete backup is recorded. */
  readonly newest_complete: {
    readonly backup_id: number;
    readonly outcome: 'complete' | 'failed';
    /** ISO 8601, UTC. */
    readonly started_at: string;
    /** ISO 8601, UTC. */
    readonly finished_at: string;
    /** The point in time whose state a restore brings back. Null if the backup failed. */
    readonly taken_at: string | null;
    /** Size of the dump and of the ClickHouse backups. Null if the backup failed. */
    readonly bytes: number | null;
    /** Folder of the dump, and the disk of the ClickHouse backups. */
    readonly destination: string;
    /** Why the backup failed. Null if it is complete. */
    readonly error: string | null;
    /** Time since `taken_at`. */
    readonly age_seconds: number;
  } | null;
  /** The 30 most recent attempts, newest first. */
  readonly backups: readonly OperatorBackup[];
  /** The command that takes a backup. Replace the folder. */
  readonly cli: readonly ({
    readonly action: 'back_up';
    readonly command: string;
  })[];
};

/** The `inlet` commands that are currently available. The API does not run them. */
export type OperatorCommands = readonly ({
  readonly action: 'show' | 'cancel' | 'retry' | 'list_jobs' | 'list_keys' | 'suspend' | 'resume';
  /** The command, as a shell accepts it. */
  readonly command: string;
})[];

export type OperatorEngine = {
  /** When the servers answered. ISO 8601, UTC. */
  readonly checked_at: string;
  /** One entry per server in `INLET_CLICKHOUSE_URLS`, in the same order. */
  readonly replicas: readonly OperatorReplica[];
};

export type OperatorFile = {
  readonly file_id: number;
  readonly path: string;
  /** Size of the object. */
  readonly bytes: number;
  /** 0 pending, 1 running, 2 done, 3 error. */
  readonly status: 0 | 1 | 2 | 3;
  /** Whether the file has been read and is waiting to be published. */
  readonly staged: boolean;
  /** Attempts to load the file. */
  readonly attempts: number;
  /** Rows that were read. */
  readonly rows: number;
  /** Rows that were not rejected. */
  readonly accepted_rows: number;
  /** Why the file failed. Null unless the status is 3. */
  readonly error: {
    /** A stable code. See docs/errors.md. */
    readonly code: string;
    readonly message: string;
  } | null;
};

export type OperatorJob = {
  /** ID of the job. For an import or a delete, it is also the import log ID. */
  readonly job_id: number;
  /** What the job does. */
  readonly kind: 'import' | 'delete' | 'audience';
  /** 0 pending, 1 running, 2 done, 3 error. */
  readonly status: 0 | 1 | 2 | 3;
  /** ISO 8601, UTC. */
  readonly created_at: string;
  /** When the job started. Null while it is pending. */
  readonly started_at: string | null;
  /** Name of the partner. */
  readonly partner: string;
  /** Position in the partner's lane, counted from its first job. Jobs run in this order. */
  readonly lane_position: number;
  /** The submitted path, relative to the prefix of the partner. Empty for a delete. */
  readonly file_path: string;
  /** Whether the job was canceled. */
  readonly canceled: boolean;
  /** Why the job failed. Null unless the status is 3. */
  readonly error: {
    /** A stable code. See docs/errors.md. */
    readonly code: string;
    readonly message: string;
  } | null;
  /** When the job finished. Null before then. */
  readonly finished_at: string | null;
  readonly cli: OperatorCommands;
};

export type OperatorJobDetails = {
  /** ID of the job. For an import or a delete, it is also the import log ID. */
  readonly job_id: number;
  /** What the job does. */
  readonly kind: 'import' | 'delete' | 'audience';
  /** 0 pending, 1 running, 2 done, 3 error. */
  readonly status: 0 | 1 | 2 | 3;
  /** ISO 8601, UTC. */
  readonly created_at: string;
  /** When the job started. Null while it is pending. */
  readonly started_at: string | null;
  /** Name of the partner. */
  readonly partner: string;
  /** Position in the partner's lane, counted from its first job. Jobs run in this order. */
  readonly lane_position: number;
  /** The submitted path, relative to the prefix of the partner. Empty for a delete. */
  readonly file_path: string;
  /** Whether the job was canceled. */
  readonly canceled: boolean;
  /** Why the job failed. Null unless the status is 3. */
  readonly error: {
    /** A stable code. See docs/errors.md. */
    readonly code: string;
    readonly message: string;
  } | null;
  /** When the job finished. Null before then. */
  readonly finished_at: string | null;
  readonly cli: OperatorCommands;
  /** The first 100 files. `inlet jobs show` prints up to 1,000. */
  readonly files: readonly OperatorFile[];
  readonly has_more_files: boolean;
};

export type OperatorLane = {
  readonly partner_id: number;
  /** Name of the partner. */
  readonly partner: string;
  /** Whether a worker is running the lane. */
  readonly state: 'running' | 'waiting_for_worker' | 'waiting_to_retry' | 'waiting_for_files' | 'without_token' | 'suspended';
  /** What the lane is waiting for, in words. */
  readonly waits_for: string;
  /** When the oldest job last finished a file or a step, or when it was submitted. ISO 8601, UTC. */
  readonly since: string;
  /** When the lane is tried again. Null if it is not waiting for a retry. */
  readonly next_attempt_at: string | null;
  /** Why the last attempt of the lane, or of a file of its oldest job, failed. Null if no attempt has failed since the last success. */
  readonly last_failure: {
    /** A stable code. See docs/errors.md. */
    readonly code: string;
    /** The dependency that caused the failure: a server, a partner's own bucket, or the AWS service from which Inlet obtains credentials. Null if no dependency caused it, or if the dependency is not known. */
    readonly dependency: 'postgresql' | 'clickhouse' | 'storage' | 'partner_storage' | 'aws_credentials' | null;
  } | null;
  /** Whether a backup is pausing publishing. The pause affects all lanes. */
  readonly paused: boolean;
  /** Unfinished jobs of the partner, except those that were canceled before their start. */
  readonly open_jobs: number;
  /** The unfinished job that was submitted first. */
  readonly oldest_job: {
    /** ID of the job. For an import or a delete, it is also the import log ID. */
    readonly job_id: number;
    /** What the job does. */
    readonly kind: 'import' | 'delete' | 'audience';
    /** 0 pending, 1 running, 2 done, 3 error. */
    readonly status: 0 | 1 | 2 | 3;
    /** ISO 8601, UTC. */
    readonly created_at: string;
    /** When the job started. Null while it is pending. */
    readonly started_at: string | null;
  };
  /** Files of the oldest job. */
  readonly files: {
    /** Files that are not finished. */
    readonly open: number;
    /** Files that workers are loading or have started to load. */
    readonly loading: number;
    /** Files that are loaded or have failed. */
    readonly finished: number;
  };
  readonly cli: OperatorCommands;
};

export type OperatorPartner = {
  readonly partner_id: number;
  /** Name of the partner. */
  readonly name: string;
  /** ISO 8601, UTC. */
  readonly created_at: string;
  /** When an operator suspended the partner. Null if the partner is not suspended. */
  readonly suspended_at: string | null;
  /** Unfinished jobs, except those that were canceled before their start. */
  readonly open_jobs: number;
  readonly api_keys: {
    /** Keys that are neither revoked nor expired. */
    readonly valid: number;
    /** All keys. */
    readonly all: number;
  };
  /** When a key was last used or a job was last submitted, accurate to about a minute. */
  readonly last_active_at: string | null;
  /** What the partner can store, as in `GET /v1/limits`. */
  readonly quotas: {
    readonly stored_rows: {
      readonly limit: number;
      readonly used: number;
      /** When `used` was measured. Null if it is counted now. */
      readonly measured_at: string | null;
    };
    readonly stored_bytes: {
      readonly limit: number;
      readonly used: number;
      /** When `used` was measured. Null if it is counted now. */
      readonly measured_at: string | null;
    };
    readonly audiences: {
      readonly limit: number;
      readonly used: number;
      /** When `used` was measured. Null if it is counted now. */
      readonly measured_at: string | null;
    };
    readonly attributes: {
      readonly limit: number;
      readonly used: number;
      /** When `used` was measured. Null if it is counted now. */
      readonly measured_at: string | null;
    };
    readonly foreign_keys: {
      readonly limit: number;
      readonly used: number;
      /** When `used` was measured. Null if it is counted now. */
      readonly measured_at: string | null;
    };
    readonly webhooks: {
      readonly limit: number;
      readonly used: number;
      /** When `used` was measured. Null if it is counted now. */
      readonly measured_at: string | null;
    };
    readonly subscriptions: {
      readonly limit: number;
      readonly used: number;
      /** When `used` was measured. Null if it is counted now. */
      readonly measured_at: string | null;
    };
    readonly idempotency_keys: {
      readonly limit: number;
      readonly used: number;
      /** When `used` was measured. Null if it is counted now. */
      readonly measured_at: string | null;
    };
  };
  readonly cli: OperatorCommands;
};

export type OperatorReplica = {
  /** Number of the shard, starting at 1. */
  readonly shard: number;
  /** Number of the replica within its shard, starting at 1. */
  readonly replica: number;
  /** Configured URL, without the user and password. */
  readonly url: string;
  /** Whether the server answered all queries within two seconds. */
  readonly reachable: boolean;
  /** Why the server is not reachable. */
  readonly problem: string | null;
  /** Null if the server is not reachable. */
  readonly state: {
    /** Version of ClickHouse. */
    readonly version: string;
    readonly uptime_seconds: number;
    /** The tables of Inlet's database, including staging tables. */
    readonly parts: {
      /** Active parts. */
      readonly active: number;
      /** Rows in them. */
      readonly rows: number;
      /** Bytes on disk. */
      readonly bytes: number;
    };
    /** Mutations of Inlet's database. */
    readonly mutations: {
      /** Mutations that are not finished. */
      readonly unfinished: number;
      /** Age of the oldest one. Null if there is none. */
      readonly oldest_seconds: number | null;
      /** The reason for the most recent failure. Null if none has failed. */
      readonly latest_failure: string | null;
    };
    readonly disks: readonly ({
      readonly name: string;
      /** Free space. */
      readonly free_bytes: number;
      /** Size of the disk. */
      readonly total_bytes: number;
    })[];
    /** Null if the shard has only one server. */
    readonly replication: {
      /** Whether any table is read-only. */
      readonly read_only: boolean;
      /** State of the sessions with ClickHouse Keeper or ZooKeeper. */
      readonly keeper_session: 'active' | 'expired';
      /** How far the replica is behind the other replicas. */
      readonly delay_seconds: number;
      /** Entries in the replication queue. */
      readonly queued_tasks: number;
    } | null;
  } | null;
};

export type Overlap = {
  readonly audiences: readonly ({
    readonly audience_id: number;
    /** Devices of the audience. */
    readonly devices: number;
  })[];
  /** All intersections of up to five audiences, or the pairs of six or more. Pairs come first. */
  readonly intersections: readonly ({
    readonly audience_ids: readonly number[];
    /** Devices that are in all of these audiences. Null if the count is hidden because the group is small. */
    readonly devices: number | null;
    /** True if the group is too small for reliable conclusions. */
    readonly small: boolean;
  })[];
  /** Devices that are in at least one of the audiences. */
  readonly reach: number;
  /** If true, noise is added to counts, counts are rounded down, and small groups are hidden. */
  readonly protected: boolean;
  readonly computed_at: string;
};

export type OverlapRequest = {
  /** The audiences to compare. */
  readonly audience_ids: readonly number[];
};

export type Progress = {
  readonly bytes_read: number;
  /** Total size of all files. 0 until the files are listed. */
  readonly bytes_total: number;
  readonly percent: number;
  readonly rows_read: number;
  /** Number of the partner's open jobs ahead of this one, including audience loads. Jobs that were canceled before their start do not count. */
  readonly queue_position: number;
  /** Estimated seconds until the job finishes. For a waiting job, the estimate is based on how long your last jobs took. Null if no estimate is possible yet. */
  readonly estimated_seconds_left: number | null;
};

export type Queued = {
  readonly import_log_id: number;
};

export type QueuedAppend = {
  readonly append_id: number;
};

export type QueueImport = {
  /** The path of a file, or a prefix of many files, relative to the partner's prefix. With `path_type` 1, the form is s3://<bucket>/<path>. */
  readonly file_path: string;
  /** 0 (attribute IDs) or 1 (your foreign keys). */
  readonly key_type: 0 | 1;
  /** 0 (the shared bucket) or 1 (your own bucket). */
  readonly path_type?: 0 | 1 | undefined;
  /** Credentials for the partner's own bucket. Required if `path_type` is 1. */
  readonly credentials?: {
    readonly accessKeyId?: string | undefined;
    readonly secretAccessKey?: string | undefined;
    /** The session token of temporary credentials. They must be valid until the import has read all files, because Inlet cannot renew them. */
    readonly sessionToken?: string | undefined;
    /** The ARN of an IAM role. Inlet assumes the role with the partner's external ID. Send either `roleArn` or the two keys. */
    readonly roleArn?: string | undefined;
    readonly region: string;
  } | undefined;
  /** Whether the files are gzipped. Required for a prefix. For a single file, the extension determines the default. */
  readonly compressed?: boolean | undefined;
  /** `merge` adds the rows to the existing data. `replace` deletes the previous data of every attribute in the files. */
  readonly mode?: 'merge' | 'replace' | undefined;
};

export type Ready = {
  readonly status: 'ok' | 'unavailable';
  /** State of each dependency, by name. */
  readonly dependencies: Readonly<Record<string, 'ok' | 'unavailable'>>;
};

export type Rejects = {
  /** 0 pending, 1 running, 2 done, 3 error. */
  readonly status: 0 | 1 | 2 | 3;
  /** Number of files with rejected rows. 0 until the export starts. */
  readonly files_total: number;
  readonly files_done: number;
  readonly files_failed: number;
  readonly bytes_read: number;
  /** Total size of the files that are read again. */
  readonly bytes_total: number;
  /** Number of rejected rows in the files that are done. */
  readonly rows: number;
  readonly error: {
    /** A stable code. See docs/errors.md. */
    readonly code: string;
    readonly message: string;
  } | null;
  /** ISO 8601, UTC. */
  readonly requested_at: string;
  readonly finished_at: string | null;
  /** When the exported files are removed. Null until the export has finished. */
  readonly expires_at: string | null;
};

export type RejectsFile = {
  readonly file: string;
  /** 0 pending, 1 running, 2 done, 3 error. */
  readonly status: 0 | 1 | 2 | 3;
  /** Number of rejected rows. */
  readonly rows: number;
  /** Path of the exported file, relative to the partner's prefix in the shared bucket. */
  readonly rejects_path: string | null;
  /** Size of the exported file, gzipped. */
  readonly bytes: number;
  /** Downloads the exported file without credentials for up to one hour. */
  readonly url: string | null;
  readonly error: {
    /** A stable code. See docs/errors.md. */
    readonly code: string;
    readonly message: string;
  } | null;
};

export type RemoveCustomer = Readonly<Record<string, unknown>> | null;

export type RenameAttribute = {
  /** A unique name of 1 to 100 characters. */
  readonly name: string;
};

export type RenameCustomer = {
  /** A unique name of 1 to 100 characters. A token from an OpenID Connect issuer identifies the customer by exactly this name. */
  readonly name: string;
};

export type ReplayEvents = {
  /** Sends this event again. */
  readonly sequence?: number | undefined;
  /** Sends all events after this sequence number again. */
  readonly after?: number | undefined;
};

/** A new composition report is available. */
export type ReportEvent = {
  /** Unique ID of the event, also sent as the header `webhook-id`. */
  readonly id: string;
  /** Position in your event log. If you can see all events, it starts at 1 and has no gaps. */
  readonly sequence: number;
  /** ISO 8601, UTC. */
  readonly created_at: string;
  /** The customer that the event concerns, or null for the account itself. */
  readonly customer: string | null;
  /** Path of the record that the event concerns. */
  readonly link: string;
  readonly type: 'report.ready';
  readonly data: {
    readonly audience_id: number;
    /** The ID that identifies the audience in requests for reports. */
    readonly default_warehouse_segment_id: number;
    /** How the report is split, or null for a report without a split. */
    readonly split: 'id_type' | 'country' | 'event' | null;
  };
};

export type RequestAudienceRejects = Readonly<Record<string, unknown>> | null;

export type RequestDeletion = {
  /** Device IDs, with or without hyphens, in upper or lower case. */
  readonly ids?: readonly string[] | undefined;
  /** Path of a file with one device ID per line, relative to your prefix in the shared bucket. It may be gzipped. A line that is not an ID is counted and skipped. */
  readonly file_path?: string | undefined;
};

export type RequestedDeletion = {
  readonly deletion_id: number;
};

export type RequestImportRejects = {
  /** Credentials for the partner's own bucket. Required if `path_type` is 1. */
  readonly credentials?: {
    readonly accessKeyId?: string | undefined;
    readonly secretAccessKey?: string | undefined;
    /** The session token of temporary credentials. They must be valid until the import has read all files, because Inlet cannot renew them. */
    readonly sessionToken?: string | undefined;
    /** The ARN of an IAM role. Inlet assumes the role with the partner's external ID. Send either `roleArn` or the two keys. */
    readonly roleArn?: string | undefined;
    readonly region: string;
  } | undefined;
};

export type RetireAttribute = Readonly<Record<string, unknown>> | null;

export type RetryAppend = {
  /** `all` (default): every file under the path. `failed`: only the files that failed or were canceled, in their current version. */
  readonly files?: 'all' | 'failed' | undefined;
};

export type RetryImport = {
  /** `all` (default): every file under the path. `failed`: only the files that failed or were canceled, in their current version. */
  readonly files?: 'all' | 'failed' | undefined;
  /** Credentials for the partner's own bucket. Required if `path_type` is 1. */
  readonly credentials?: {
    readonly accessKeyId?: string | undefined;
    readonly secretAccessKey?: string | undefined;
    /** The session token of temporary credentials. They must be valid until the import has read all files, because Inlet cannot renew them. */
    readonly sessionToken?: string | undefined;
    /** The ARN of an IAM role. Inlet assumes the role with the partner's external ID. Send either `roleArn` or the two keys. */
    readonly roleArn?: string | undefined;
    readonly region: string;
  } | undefined;
};

export type RevokeApiKey = Readonly<Record<string, unknown>> | null;

export type RevokeStorageKey = Readonly<Record<string, unknown>> | null;

export type RevokeUserToken = Readonly<Record<string, unknown>> | null;

export type RotateApiKey = {
  /** How long the old key keeps working. With 0, it stops working at once. */
  readonly overlap_hours?: number | undefined;
  /** Null for the lifetime of the old key. */
  readonly expires_in_days?: number | null | undefined;
};

export type RotatedApiKey = {
  readonly key_id: number;
  readonly name: string;
  readonly scopes: readonly string[];
  /** ISO 8601, UTC. */
  readonly created_at: string;
  /** The key or console session that created the key. Null for the operator. */
  readonly created_by: string | null;
  /** When the key was last used, accurate to about a minute. Null if it was never used. */
  readonly last_used_at: string | null;
  /** When the key stops working. Null if it never expires. */
  readonly expires_at: string | null;
  /** When the key was revoked. */
  readonly revoked_at: string | null;
  /** Whether this request was sent with the key. */
  readonly current: boolean;
  /** The API key, which is shown only here. Null in the response to a repeated request, because Inlet stores only a hash. */
  readonly api_key: string | null;
  readonly replaces: ApiKey;
};

export type RotatedStorageKey = {
  readonly access_key_id: string;
  /** Null for a key that was created with your account. */
  readonly created_at: string | null;
  /** The key or console session that created the storage key. Null for the operator. */
  readonly created_by: string | null;
  /** When the key is removed from the storage, accurate to about ten seconds. Null if no removal is scheduled. */
  readonly expires_at: string | null;
  /** The secret, which is shown only here. Null in the response to a repeated request, because Inlet does not store it. */
  readonly secret_access_key: string | null;
  /** The other keys, which will expire. */
  readonly replaces: readonly StorageKey[];
};

export type RotateStorageKeys = {
  /** How long the other keys keep working. With 0, they stop working before the new key is created. */
  readonly overlap_hours?: number | undefined;
};

export type RotateWebhookSecret = Readonly<Record<string, unknown>> | null;

export type StartUpload = {
  /** The path of the new file, relative to the partner's prefix. */
  readonly file_path: string;
  /** Size of the file. */
  readonly bytes: number;
};

export type StorageKey = {
  readonly access_key_id: string;
  /** Null for a key that was created with your account. */
  readonly created_at: string | null;
  /** The key or console session that created the storage key. Null for the operator. */
  readonly created_by: string | null;
  /** When the key is removed from the storage, accurate to about ten seconds. Null if no removal is scheduled. */
  readonly expires_at: string | null;
};

export type Subscription = {
  readonly subscription_id: number;
  readonly prefix: string;
  /** 0 (attribute IDs) or 1 (your foreign keys). */
  readonly key_type: 0 | 1;
  readonly compressed: boolean;
  readonly existing: 'import' | 'skip';
  /** Exactly one field is not null. */
  readonly trigger: {
    readonly quiet_seconds: number | null;
    readonly marker: string | null;
    readonly every_seconds: number | null;
    readonly daily_at: string | null;
  };
  readonly status: 'active' | 'paused';
  /** Objects that have arrived and are not part of an import yet. */
  readonly waiting_objects: number;
  /** Why they are not imported yet. `quiet`, `marker`, `schedule`: they are waiting for the trigger. `open_imports`: the limit on open jobs has been reached, or 10 imports of this subscription are open. `quota`: a quota for stored data has been reached. `too_many_objects`: the prefix has more objects than Inlet lists, so the last ones in key order are not seen. */
  readonly waits_for: 'quiet' | 'marker' | 'schedule' | 'open_imports' | 'quota' | 'too_many_objects' | null;
  /** The next time of a schedule. */
  readonly next_import_at: string | null;
  /** When Inlet last listed the whole prefix. */
  readonly last_listed_at: string | null;
  /** The last import that the subscription created. */
  readonly last_import_log_id: number | null;
  readonly paused_at: string | null;
  /** ISO 8601, UTC. */
  readonly created_at: string;
  /** ISO 8601, UTC. */
  readonly updated_at: string;
};

/** The prefix of a subscription has more objects than Inlet lists. The last ones in key order are not imported. */
export type SubscriptionEvent = {
  /** Unique ID of the event, also sent as the header `webhook-id`. */
  readonly id: string;
  /** Position in your event log. If you can see all events, it starts at 1 and has no gaps. */
  readonly sequence: number;
  /** ISO 8601, UTC. */
  readonly created_at: string;
  /** The customer that the event concerns, or null for the account itself. */
  readonly customer: string | null;
  /** Path of the record that the event concerns. */
  readonly link: string;
  readonly type: 'subscription.too_many_objects';
  readonly data: {
    /** The subscription. */
    readonly subscription_id: number;
  };
};

export type SubscriptionObject = {
  /** Path relative to the partner's prefix. */
  readonly path: string;
  readonly etag: string;
  readonly size: number;
  /** What became of this version. `overwritten`, `deleted`: it was overwritten or deleted before it was loaded. `skipped`: it existed when the subscription was created. `marker`: it starts imports. A `failed` version is imported again only if you retry its import. */
  readonly state: 'waiting' | 'queued' | 'imported' | 'failed' | 'overwritten' | 'deleted' | 'skipped' | 'marker';
  /** The import that loads or loaded it. */
  readonly import_log_id: number | null;
  /** Why it failed. See docs/errors.md. */
  readonly error_code: string | null;
  /** When the storage received it. */
  readonly last_modified: string;
  /** When a listing first contained it. */
  readonly seen_at: string;
  /** ISO 8601, UTC. */
  readonly updated_at: string;
};

export type TestWebhook = Readonly<Record<string, unknown>> | null;

export type TieForeignKeys = {
  readonly foreign_keys: readonly string[];
};

export type UntieForeignKeys = {
  readonly foreign_keys: readonly string[];
};

export type UpdateSubscription = {
  /** 0 (attribute IDs) or 1 (your foreign keys). */
  readonly key_type?: 0 | 1 | undefined;
  /** Whether the files are gzipped. */
  readonly compressed?: boolean | undefined;
  /** When the objects that have arrived are imported. Exactly one field is set. */
  readonly trigger?: {
    /** When nothing has changed under the prefix for this long, imports the objects that have arrived. With 0, imports them as soon as they are seen. An object waits at most 10 times as long. */
    readonly quiet_seconds?: number | undefined;
    /** Imports the objects of a folder when an object with this name, for example `_SUCCESS`, is written after them into the folder or a folder above it. */
    readonly marker?: string | undefined;
    /** Imports the objects that have arrived at this interval. */
    readonly every_seconds?: number | undefined;
    /** Once a day, at this time (UTC), imports the objects that have arrived. */
    readonly daily_at?: string | undefined;
  } | undefined;
  /** `true` stops new imports. Imports that are already queued still run. Objects that arrive in the meantime are imported after you set `false`. */
  readonly paused?: boolean | undefined;
};

export type UpdateWebhook = {
  /** Where events are sent. It must start with `https://` and have a public address. */
  readonly url?: string | undefined;
  /** A note for yourself. */
  readonly description?: string | undefined;
  /** The types of events that are sent. Null for all types, including types that later releases add. */
  readonly event_types?: readonly ('import.finished' | 'import.failed' | 'import.rejects.finished' | 'import.rejects.failed' | 'delete.finished' | 'delete.failed' | 'audience.file.finished' | 'audience.ready' | 'audience.cleared' | 'audience.deleted' | 'audience.rejects.finished' | 'audience.rejects.failed' | 'report.ready' | 'subscription.too_many_objects' | 'webhook.failing' | 'webhook.disabled')[] | null | undefined;
  /** `true` enables a disabled webhook. It then gets all events that it has missed. */
  readonly enabled?: boolean | undefined;
};

export type Upload = {
  readonly upload_id: string;
  /** The path to import or to load into an audience. */
  readonly file_path: string;
  /** Size of the file. */
  readonly bytes: number;
  /** Size of every part except the last, which contains the rest. */
  readonly part_bytes: number;
  /** The parts that are stored. */
  readonly uploaded: readonly ({
    /** Position of the part in the file, starting at 1. */
    readonly part_number: number;
    readonly bytes: number;
    readonly etag: string;
  })[];
  /** The parts that are missing. A URL is valid for up to one hour and needs no credentials. */
  readonly parts: readonly ({
    /** Position of the part in the file, starting at 1. */
    readonly part_number: number;
    /** Send the bytes of the part to this URL with `PUT`. */
    readonly url: string;
  })[];
  /** When the upload can no longer be read or completed (ISO 8601, UTC). */
  readonly expires_at: string;
};

export type UserToken = {
  readonly token_id: number;
  readonly customer_id: number;
  /** ISO 8601, UTC. */
  readonly created_at: string;
  /** The key or console session that created the token. Null for the operator. */
  readonly created_by: string | null;
  readonly revoked_at: string | null;
};

export type Webhook = {
  readonly webhook_id: number;
  readonly url: string;
  readonly description: string;
  readonly event_types: readonly string[] | null;
  /** `failing` if the last attempts have failed. A disabled webhook gets no events. */
  readonly status: 'enabled' | 'failing' | 'disabled';
  /** Maximum number of events that have not been delivered yet. The actual number can be lower. */
  readonly pending_events: number;
  readonly failing_since: string | null;
  /** When a failing webhook will be disabled if nothing is delivered by then. */
  readonly disables_at: string | null;
  /** When the next event is sent to a failing or throttling receiver. */
  readonly paused_until: string | null;
  readonly disabled_at: string | null;
  /** `request`: you disabled it. `gone`: the receiver responded with 410. `failures`: it failed for 5 days. */
  readonly disabled_reason: 'request' | 'gone' | 'failures' | null;
  /** For 24 hours after a rotation, events are also signed with the old secret. */
  readonly old_secrets_expire_at: string | null;
  /** ISO 8601, UTC. */
  readonly created_at: string;
  /** ISO 8601, UTC. */
  readonly updated_at: string;
};

export type WebhookDelivery = {
  /** The event. */
  readonly sequence: number;
  readonly event_type: string;
  /** `pending` until the next attempt, `delivered`, or `failed` after the last attempt. */
  readonly status: 'pending' | 'delivered' | 'failed';
  /** Whether the last attempt was requested with a replay. */
  readonly is_replay: boolean;
  readonly next_attempt_at: string | null;
  readonly delivered_at: string | null;
  /** ISO 8601, UTC. */
  readonly created_at: string;
  /** The last 20 attempts, oldest first. */
  readonly attempts: readonly ({
    /** ISO 8601, UTC. */
    readonly at: string;
    readonly milliseconds: number;
    /** HTTP status of the response, or null without a response. */
    readonly status: number | null;
    /** Why there was no response: it took too long, the address is not public, or the connection failed. */
    readonly error: 'timeout' | 'address_refused' | 'connection_failed' | null;
  })[];
};

/** A webhook was disabled. */
export type WebhookDisabledEvent = {
  /** Unique ID of the event, also sent as the header `webhook-id`. */
  readonly id: string;
  /** Position in your event log. If you can see all events, it starts at 1 and has no gaps. */
  readonly sequence: number;
  /** ISO 8601, UTC. */
  readonly created_at: string;
  /** The customer that the event concerns, or null for the account itself. */
  readonly customer: string | null;
  /** Path of the record that the event concerns. */
  readonly link: string;
  readonly type: 'webhook.disabled';
  readonly data: {
    /** The webhook. */
    readonly webhook_id: number;
    readonly reason: 'request' | 'gone' | 'failures';
  };
};

/** A test of a webhook, or a warning that it will be disabled. */
export type WebhookEvent = {
  /** Unique ID of the event, also sent as the header `webhook-id`. */
  readonly id: string;
  /** Position in your event log. If you can see all events, it starts at 1 and has no gaps. */
  readonly sequence: number;
  /** ISO 8601, UTC. */
  readonly created_at: string;
  /** The customer that the event concerns, or null for the account itself. */
  readonly customer: string | null;
  /** Path of the record that the event concerns. */
  readonly link: string;
  readonly type: 'webhook.test' | 'webhook.failing';
  readonly data: {
    /** The webhook. */
    readonly webhook_id: number;
  };
};

export type WebhookSecret = {
  /** The secret with which events are signed. It is shown only once. */
  readonly secret: string;
};
