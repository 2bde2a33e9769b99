// Generated from packages/contract/openapi.json by "npm run generate". Do not edit.

export type AppendFiles = {
  /** A file, or the beginning of the paths of many, relative to the partner's prefix. */
  readonly file_path: string;
};

export type Attribute = {
  readonly attribute_id: number;
  readonly name: string;
  readonly foreign_keys: readonly string[];
  /** A retired attribute takes no more imports; its data can be deleted. */
  readonly retired: boolean;
};

export type Audience = {
  readonly audience_id: number;
  readonly name: string;
  /** Distinct devices in the audience. */
  readonly unique_devices: number;
  /** For the deep link to the composition report. */
  readonly default_warehouse_segment_id: number;
  /** 0 pending, 1 running, 2 done, 3 error. */
  readonly status: 0 | 1 | 2 | 3;
  /** ISO 8601, UTC. */
  readonly created_at: string;
  /** ISO 8601, UTC. */
  readonly updated_at: string;
  /** Sum over the loaded files of the distinct devices in each. */
  readonly uploaded_devices: number;
  /** Those of the unique devices that the device warehouse knows. */
  readonly matched_devices: number;
};

export type AudienceDetails = {
  readonly audience_id: number;
  readonly name: string;
  /** Distinct devices in the audience. */
  readonly unique_devices: number;
  /** For the deep link to the composition report. */
  readonly default_warehouse_segment_id: number;
  /** 0 pending, 1 running, 2 done, 3 error. */
  readonly status: 0 | 1 | 2 | 3;
  /** ISO 8601, UTC. */
  readonly created_at: string;
  /** ISO 8601, UTC. */
  readonly updated_at: string;
  /** Sum over the loaded files of the distinct devices in each. */
  readonly uploaded_devices: number;
  /** Those of the unique devices that the device warehouse knows. */
  readonly matched_devices: number;
  readonly file: readonly AudienceFile[];
};

export type AudienceFile = {
  /** Begins with the partner's prefix. */
  readonly s3_path: string;
  /** 0 pending, 1 running, 2 done, 3 error. */
  readonly status: 0 | 1 | 2 | 3;
  readonly rows_uploaded: number;
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
  /** Numbers carry noise, are rounded down, and small ones are hidden. */
  readonly protected: boolean;
  readonly computed_at: string;
  readonly attributes: readonly CompositionEntry[];
};

export type CompositionEntry = {
  readonly attribute_id: number;
  readonly name: string;
  /** Of the split; absent without one. */
  readonly value?: string | undefined;
  /** Matched devices with the attribute. Null: hidden, because the group is small. */
  readonly devices: number | null;
  /** Of the matched devices. */
  readonly share: number | null;
  /** Devices with the attribute in the whole warehouse. */
  readonly warehouse_devices: number;
  readonly warehouse_share: number | null;
  /** share ÷ warehouse_share: 1 is as usual, 2 twice as often. */
  readonly index: number | null;
  /** The number is small: do not build on it. */
  readonly small: boolean;
};

export type CreateAudience = {
  readonly name: string;
  /** A file, or the beginning of the paths of many, relative to the partner's prefix. */
  readonly file_path: string;
};

export type CreatedAudience = {
  readonly audience_id: number;
  readonly default_warehouse_segment_id: number;
};

export type DeleteAttributeData = {
  /** 0 attribute ids, 1 foreign keys of the partner. */
  readonly key_type: 0 | 1;
  /** The attributes of which all data is deleted, by what key_type says. */
  readonly keys: readonly string[];
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
    /** A stable code: see docs/errors.md. */
    readonly code: string;
    readonly message: string;
  } | null;
  /** ISO 8601, UTC. */
  readonly updated_at: string;
};

export type ImportLog = {
  readonly import_log_id: number;
  readonly file_path: string;
  /** 0 the shared bucket, 1 a bucket of the partner. */
  readonly path_type: 0 | 1;
  /** 0 attribute ids, 1 foreign keys of the partner. */
  readonly key_type: 0 | 1;
  /** 0 pending, 1 running, 2 done, 3 error. */
  readonly status: 0 | 1 | 2 | 3;
  /** 0 import, 1 delete. */
  readonly log_type: 0 | 1;
  /** Of a delete: the keys that were sent. */
  readonly keys: readonly string[] | null;
  /** A string holding a number. */
  readonly unique_devices: string;
  /** A string holding a number. */
  readonly total_rows: string;
  readonly errors: readonly ImportLogError[] | null;
  /** ISO 8601, UTC. */
  readonly created_at: string;
  /** ISO 8601, UTC. */
  readonly updated_at: string;
  readonly progress: Progress;
};

export type ImportLogError = {
  /** A stable code: see docs/errors.md. */
  readonly code: string;
  readonly message: string;
  /** As in GET …/files; null when it is about the whole job. */
  readonly file: string | null;
  /** Line number in the file, from 1; the first one with this code. */
  readonly row: number | null;
  readonly column: string | null;
  /** How many rows (or files) the entry stands for. */
  readonly count: number;
};

export type Limits = {
  /** Requests that the key may make in a minute. */
  readonly requests_per_minute_per_key: number;
  /** Requests that all keys of the partner together may make in a minute. */
  readonly requests_per_minute_per_partner: number;
  /** Unfinished jobs of the partner. */
  readonly open_jobs: number;
  /** Files that one job may load. */
  readonly files_per_prefix: number;
  /** Size of a gzipped file, as it is stored. */
  readonly gzip_file_bytes: number;
  /** Size of a file that is not compressed; also of a gzipped one when it is unpacked. */
  readonly plain_file_bytes: number;
  /** Length of a line of a file; a longer one is a refused row. */
  readonly line_bytes: number;
  /** Size of the body of a request. */
  readonly body_bytes: number;
  /** Size of the headers of a request, its path among them. */
  readonly header_bytes: number;
};

export type Live = {
  readonly status: 'ok';
};

export type LoadError = {
  /** Null when it is about the whole job. */
  readonly file: string | null;
  readonly row: number | null;
  readonly column: string | null;
  /** A stable code: see docs/errors.md. */
  readonly code: string;
  readonly message: string;
  /** The first 200 bytes of the refused line; what cannot be printed stands as \xNN. */
  readonly text: string | null;
};

export type Progress = {
  readonly bytes_read: number;
  /** 0 until the files are listed. */
  readonly bytes_total: number;
  readonly percent: number;
  readonly rows_read: number;
  /** Open jobs of the partner before this one. */
  readonly queue_position: number;
  /** Null while nothing can be said. */
  readonly estimated_seconds_left: number | null;
};

export type Queued = {
  readonly import_log_id: number;
};

export type QueueImport = {
  /** A file, or the beginning of the paths of many. Relative to the partner's prefix; with path_type 1, s3://<bucket>/<path>. */
  readonly file_path: string;
  /** 0 attribute ids, 1 foreign keys of the partner. */
  readonly key_type: 0 | 1;
  /** 0 the shared bucket, 1 a bucket of the partner. */
  readonly path_type?: 0 | 1 | undefined;
  /** Of the partner's own bucket; required when path_type is 1. */
  readonly credentials?: {
    readonly accessKeyId?: string | undefined;
    readonly secretAccessKey?: string | undefined;
    /** Instead of the two keys: a role that Inlet assumes, with the ExternalId that it made for the partner. */
    readonly roleArn?: string | undefined;
    readonly region: string;
  } | undefined;
  /** Whether the files are gzipped. Needed for a prefix; of a file, its extension tells. */
  readonly compressed?: boolean | undefined;
  /** With replace, the attributes named in the files have these rows alone afterwards. */
  readonly mode?: 'merge' | 'replace' | undefined;
};

export type Ready = {
  readonly status: 'ok' | 'unavailable';
  /** Each server that Inlet needs, by its name. */
  readonly dependencies: Readonly<Record<string, 'ok' | 'unavailable'>>;
};
