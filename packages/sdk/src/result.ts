import type { ApiCode } from './generated/codes.ts';

/** The result of every call. Errors from the API, the network, and the storage are returned, not thrown. */
export type Result<T> = Success<T> | Failure;

export type Success<T> = { readonly ok: true; readonly value: T };
export type Failure = { readonly ok: false; readonly problem: Problem };

/** The result of one operation, with the status and headers of the response. */
export type Answered<T> = (Success<T> & { readonly answer: Answer }) | Failure;

export type Answer = {
  readonly status: number;
  readonly headers: Headers;
  /** The query of the next page, from the `Link` header. Null on the last page. */
  readonly next: Readonly<Record<string, string>> | null;
};

export type Problem = ApiProblem | LocalProblem;

/** An API error (RFC 9457). See docs/errors.md for the causes and remedies of each code. */
export type ApiProblem = {
  readonly from: 'api';
  /** `unknown_code` means that the code is newer than this SDK. `type` ends with the actual code. */
  readonly code: ApiCode | 'unknown_code';
  readonly type: string;
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  readonly instance: string;
  /** Include it in support requests. The API logs the same ID. */
  readonly request_id: string;
  readonly errors: readonly { readonly pointer: string; readonly detail: string }[];
  readonly attempts: number;
};

/** An error from the client, the network, or the storage. */
export type LocalProblem = {
  readonly from: 'sdk';
  readonly code: LocalCode;
  readonly detail: string;
  /** The number of attempts. */
  readonly attempts: number;
  /** The HTTP status, for `unreadable_answer`. A proxy in front of the API often responds with 502 while the API restarts. */
  readonly status?: number;
  /** The storage response, for `storage_refused`. */
  readonly storage?: StorageAnswer;
};

/** An error response from the object storage. */
export type StorageAnswer = {
  readonly status: number;
  /** S3 error code, for example `AccessDenied`. Empty if there is none. */
  readonly code: string;
  /** Request ID for support requests to the storage provider. Empty if there is none. */
  readonly request_id: string;
  /** Whether the error is transient, so that a retry may succeed. */
  readonly may_pass: boolean;
};

export type LocalCode =
  /** No connection could be established, or the connection was lost. */
  | 'network_failed'
  /** No response arrived in time, or a timeout expired. */
  | 'timed_out'
  /** Aborted by the caller's signal. */
  | 'aborted'
  /** The response is not from this API. It is often from a proxy. */
  | 'unreadable_answer'
  /** An argument is not valid. */
  | 'invalid_argument'
  /** A file to upload cannot be read, or it changed while it was being read. */
  | 'unreadable_file'
  /** The `resumeFolder` of an upload cannot be written. */
  | 'unwritable_folder'
  /** The object storage rejected a request. */
  | 'storage_refused';

export function succeed<T>(value: T): Success<T> {
  return { ok: true, value };
}

export function fail(code: LocalCode, detail: string, attempts = 1): Failure & { readonly problem: LocalProblem } {
  return { ok: false, problem: { from: 'sdk', code, detail, attempts } };
}
