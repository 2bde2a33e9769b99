import type { Answered, Result } from './result.ts';

export type CallOptions = {
  /** Ends the call, and the waiting between two attempts. */
  readonly signal?: AbortSignal | undefined;
  /** For each attempt; 30 seconds if nothing is said. */
  readonly timeoutMs?: number | undefined;
  /** Of a customer, in place of the client's: audiences only. */
  readonly userToken?: string | undefined;
};

export type WriteOptions = CallOptions & {
  /** With the same key and body, a write is done once, however often it is sent. The SDK makes one if none is given. */
  readonly idempotencyKey?: string | undefined;
};

export type QueryValue = string | number | boolean | undefined;

/** One operation as it goes over the wire. */
export type Call = {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, QueryValue>> | undefined;
  readonly body?: unknown;
  /** What it proves itself with; health needs nothing. */
  readonly proof: 'none' | 'key' | 'key and user token';
  /** Statuses besides 2xx that have a value. */
  readonly alsoFine?: readonly number[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly options?: WriteOptions | undefined;
};

export type CallApi = <T>(call: Call) => Promise<Answered<T>>;

/** One event of a stream. `data` is the record as its GET gives it. */
export type ServerEvent<T> = { readonly event: string; readonly id: string; readonly data: T };

type FollowApi = <T>(call: Call) => AsyncGenerator<Result<ServerEvent<T>>, void, undefined>;

export type Api = { readonly call: CallApi; readonly follow: FollowApi };
