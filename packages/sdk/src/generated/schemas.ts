// Generated from packages/contract/openapi.json by "npm run generate". Do not edit.

export type AppendFiles = {
  /** The path of a file, or a prefix of many files, relative to the partner's prefix. */
  readonly file_path: string;
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
  /** When `matched_devices` was counted. Imports since then are not included. Null until a file has been loaded. */
  readonly matched_at: string | null;
};

export type AudienceDetails = {
  readonly audience_id: number;
  readonly name: string;
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
  /** When `matched_devices` was counted. Imports since then are not included. Null until a file has been loaded. */
  readonly matched_at: string | null;
  /** The first 1,000 entries. If there are more, the `Link` header points to the next page. */
  readonly file: readonly AudienceFile[];
};

export type AudienceFile = {
  /** ID of this entry. Use it to dismiss a failed entry. It begins with `path-` for a path without files. */
  readonly file_id: string;
  /** Object key, including the partner's prefix. */
  readonly s3_path: string;
  /** The loaded version of the object. Null for a path without files. */
  readonly etag: string | null;
  /** 0 pending, 1 running, 2 done, 3 error. */
  readonly status: 0 | 1 | 2 | 3;
  readonly rows_uploaded: number;
  /** Rows that were skipped. GET …/errors lists the first of each reason. */
  readonly rows_rejected: number;
  /** Why the entry failed. Null unless the status is 3. */
  readonly error: {
    /** A stable code. See docs/errors.md. */
    readonly code: string;
    readonly message: string;
  } | null;
  /** When the failed entry was dismissed. It then no longer affects the status of the audience. */
  readonly dismissed_at: string | null;
  /** ISO 8601, UTC. */
  readonly updated_at: string;
};

export type ClearAudience = Readonly<Record<string, unknown>> | null;

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

export type CreateAudience = {
  readonly name: string;
  /** The path of a file, or a prefix of many files, relative to the partner's prefix. */
  readonly file_path: string;
};

export type CreatedAudience = {
  readonly audience_id: number;
  readonly default_warehouse_segment_id: number;
};

export type DeleteAttributeData = {
  /** 0 (attribute IDs) or 1 (your foreign keys). */
  readonly key_type: 0 | 1;
  /** The attributes whose data is deleted. `key_type` determines whether these are attribute IDs or foreign keys. */
  readonly keys: readonly string[];
};

/** The exact count is in this range, which includes the noise and the rounding. */
export type DevicesRange = {
  readonly low: number;
  readonly high: number;
} | null;

export type DismissFile = Readonly<Record<string, unknown>> | null;

export type Event = {
  /** Position in your event log. Without a user token, it starts at 1 and has no gaps. */
  readonly sequence: number;
  /** What happened. Ignore types that you do not know. */
  readonly type: 'report.ready';
  /** ISO 8601, UTC. */
  readonly created_at: string;
  /** The customer that the event concerns, or null for your own audiences. */
  readonly customer: string | null;
  readonly data: {
    readonly audience_id: number;
    /** The ID with which the report is read. */
    readonly default_warehouse_segment_id: number;
    /** How the report is split, or null for a report without a split. */
    readonly split: 'id_type' | 'country' | 'event' | null;
  };
};

export type ImportFile = {
  readonly file: string;
  /** 0 pending, 1 running, 2 done, 3 error. */
  readonly status: 0 | 1 | 2 | 3;
  readonly total_rows: number;
  readonly rejected_rows: number;
  readonly bytes: number;
  readonly bytes_read: number;
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
  /** For a delete: the submitted keys. */
  readonly keys: readonly string[] | null;
  /** A number as a string. */
  readonly unique_devices: string;
  /** A number as a string. */
  readonly total_rows: string;
  readonly errors: readonly ImportLogError[] | null;
  /** ISO 8601, UTC. */
  readonly created_at: string;
  /** ISO 8601, UTC. */
  readonly updated_at: string;
  /** When the files were listed. Null while the job is waiting. */
  readonly started_at: string | null;
  /** Null until the job has finished. */
  readonly finished_at: string | null;
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

/** The exact index is in this range. If it contains 1, the difference may be noise. Null if it has no upper limit. */
export type IndexRange = {
  readonly low: number;
  readonly high: number;
} | null;

export type Limits = {
  /** Maximum number of requests per minute with this API key. */
  readonly requests_per_minute_per_key: number;
  /** Maximum number of requests per minute across all of the partner's API keys. */
  readonly requests_per_minute_per_partner: number;
  /** Maximum number of unfinished jobs per partner. Up to 20 deletes are accepted beyond this limit. */
  readonly open_jobs: number;
  /** Maximum number of files in one job. */
  readonly files_per_prefix: number;
  /** Maximum number of keys in one delete request. */
  readonly keys_per_delete: number;
  /** Share of rejected rows that an audience file may have. With 0, one rejected row fails the file. */
  readonly audience_bad_row_share: number;
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
  /** The privacy budget of the last 30 days: the customer's budget with a user token, and otherwise that of your own audiences. A limit of 0 means that there is none. */
  readonly reports: {
    /** New composition reports. */
    readonly composition: {
      readonly limit: number;
      readonly used: number;
    };
    /** New overlaps. An overlap counts once for every published number that depends on one device. */
    readonly overlap: {
      readonly limit: number;
      readonly used: number;
    };
  };
  /** What you can store. Above a quota, the response is 422 `quota_exceeded`. */
  readonly quotas: {
    /** Rows of your attributes and audiences, including duplicates that are not merged yet and deleted rows that are not purged yet. */
    readonly stored_rows: {
      readonly limit: number;
      readonly used: number;
      /** When `used` was measured. Null before the first time. */
      readonly measured_at: string | null;
    };
    /** Bytes that these rows occupy. */
    readonly stored_bytes: {
      readonly limit: number;
      readonly used: number;
      /** When `used` was measured. Null before the first time. */
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
    /** Requests with an `Idempotency-Key` in the last 24 hours. */
    readonly idempotency_keys: {
      readonly limit: number;
      readonly used: number;
      /** When `used` was measured. Null before the first time. */
      readonly measured_at: string | null;
    };
  };
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
  /** Number of the partner's open jobs ahead of this one, including audience loads. */
  readonly queue_position: number;
  /** Estimated seconds until the job finishes. Null if no estimate is possible yet. */
  readonly estimated_seconds_left: number | null;
};

export type Queued = {
  readonly import_log_id: number;
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
