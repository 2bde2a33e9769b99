import type { Answered, Result } from './result.ts';

export type CallOptions = {
  /** Aborts the call and the delays between attempts. */
  readonly signal?: AbortSignal | undefined;
  /** Timeout of each attempt. Default: 30 seconds. */
  readonly timeoutMs?: number | undefined;
  /** User token for this call, instead of the client's user token. Used only by operations on audiences and limits. */
  readonly userToken?: string | undefined;
};

export type WriteOptions = CallOptions & {
  /** A write with the same key and body is executed only once. The SDK generates a key if none is given. */
  readonly idempotencyKey?: string | undefined;
};

export type QueryValue = string | number | boolean | undefined;

/** One API request. */
export type Call = {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, QueryValue>> | undefined;
  readonly body?: unknown;
  /** Required credentials. The health check needs none. Operations for operators need a session cookie. */
  readonly auth: 'none' | 'key' | 'key and user token' | 'operator';
  /** Statuses other than 2xx that count as success. */
  readonly acceptedStatuses?: readonly number[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly options?: WriteOptions | undefined;
};

export type CallApi = <T>(call: Call) => Promise<Answered<T>>;

/** One event in a stream. `data` is the same record that GET returns. */
export type ServerEvent<T> = { readonly event: string; readonly id: string; readonly data: T };

type FollowApi = <T>(call: Call) => AsyncGenerator<Result<ServerEvent<T>>, void, undefined>;

export type Api = { readonly call: CallApi; readonly follow: FollowApi };
