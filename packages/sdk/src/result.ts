import type { ApiCode } from './generated/codes.ts';

/** What every call gives: nothing that the api, the network or the storage does is thrown. */
export type Result<T> = Success<T> | Failure;

export type Success<T> = { readonly ok: true; readonly value: T };
export type Failure = { readonly ok: false; readonly problem: Problem };

/** The result of one operation; beside the value, what else the api said. */
export type Answered<T> = (Success<T> & { readonly answer: Answer }) | Failure;

export type Answer = {
  readonly status: number;
  readonly headers: Headers;
  /** The query of the next page of a list, from the header `Link`; null on the last page and where there are none. */
  readonly next: Readonly<Record<string, string>> | null;
};

export type Problem = ApiProblem | LocalProblem;

/** What the api answered (RFC 9457). Causes and remedies of the codes: docs/errors.md of Inlet. */
export type ApiProblem = {
  readonly from: 'api';
  /** `unknown_code`: one that is newer than this SDK; `type` ends with it. */
  readonly code: ApiCode | 'unknown_code';
  readonly type: string;
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  readonly instance: string;
  /** To be quoted when asking for help: the log of the api has the same. */
  readonly request_id: string;
  readonly errors: readonly { readonly pointer: string; readonly detail: string }[];
  readonly attempts: number;
};

/** What went wrong on the way. */
export type LocalProblem = {
  readonly from: 'sdk';
  readonly code: LocalCode;
  readonly detail: string;
  /** How often it was tried. */
  readonly attempts: number;
  /** Of `storage_refused`, where it is about an answer. */
  readonly storage?: StorageAnswer;
};

/** What the object storage answered. */
export type StorageAnswer = {
  readonly status: number;
  /** As S3 has it: `AccessDenied`, `SlowDown` …; empty where there was none. */
  readonly code: string;
  /** To be quoted when asking whoever runs the storage; empty where there was none. */
  readonly request_id: string;
  /** The storage is away or busy: the same may work later. */
  readonly may_pass: boolean;
};

export type LocalCode =
  /** No connection, or it broke. */
  | 'network_failed'
  /** No answer in time; or a time limit that was given ran out. */
  | 'timed_out'
  /** By the caller's signal. */
  | 'aborted'
  /** An answer that is not of this api: often a proxy's. */
  | 'unreadable_answer'
  /** Something was given that cannot be sent. */
  | 'invalid_argument'
  /** A file to upload cannot be read, or changed while it was read. */
  | 'unreadable_file'
  /** The `resumeFolder` of an upload cannot be written. */
  | 'unwritable_folder'
  /** The object storage refused. */
  | 'storage_refused';

export function succeed<T>(value: T): Success<T> {
  return { ok: true, value };
}

export function fail(code: LocalCode, detail: string, attempts = 1): Failure & { readonly problem: LocalProblem } {
  return { ok: false, problem: { from: 'sdk', code, detail, attempts } };
}
