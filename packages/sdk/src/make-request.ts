import { randomUUID } from 'node:crypto';
import type { Call, QueryValue } from './call.ts';
import { type Result, fail, succeed } from './result.ts';
import type { HttpRequest, RetrySettings } from './send.ts';
import { Secret } from './settings.ts';

export type Connection = {
  readonly url: string;
  readonly apiKey: Secret;
  readonly userToken: Secret | null;
  readonly timeoutMs: number;
  readonly retry: RetrySettings;
};

/** Errors name the invalid argument but never contain its value. */
export function makeRequest(connection: Connection, call: Call): Result<HttpRequest> {
  try {
    return succeed(requestOf(connection, call));
  } catch (error) {
    return fail('invalid_argument', error instanceof TypeError ? error.message : 'The request cannot be sent.', 0);
  }
}

function requestOf(connection: Connection, call: Call): HttpRequest {
  const { method, path, query, body, auth, options } = call;
  requireTime(options?.timeoutMs ?? connection.timeoutMs);
  const token = options?.userToken === undefined ? connection.userToken : new Secret(options.userToken, 'userToken');
  return {
    method,
    url: connection.url + path + queryOf(query),
    headers: {
      accept: 'application/json, application/problem+json',
      ...(auth === 'none' ? {} : { authorization: `Bearer ${connection.apiKey.reveal()}` }),
      ...(auth === 'key and user token' && token ? { 'x-user-token': token.reveal() } : {}),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(method === 'GET' ? {} : { 'idempotency-key': idempotencyKeyOf(options?.idempotencyKey) }),
      ...call.headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  };
}

function idempotencyKeyOf(given: string | undefined): string {
  if (given === undefined) return randomUUID();
  if (!/^[\x21-\x7e]{1,255}$/.test(given)) {
    throw new TypeError('idempotencyKey must be 1 to 255 printable ASCII characters without spaces');
  }
  return given;
}

function queryOf(query: Readonly<Record<string, QueryValue>> = {}): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value));
  return given.size === 0 ? '' : `?${given.toString()}`;
}

function requireTime(milliseconds: number): void {
  if (Number.isInteger(milliseconds) && milliseconds > 0 && milliseconds < 2 ** 31) return;
  throw new TypeError('timeoutMs must be a whole number of milliseconds');
}
