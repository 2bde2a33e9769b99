import type { Call, QueryValue } from './call.ts';
import { type Result, fail, succeed } from './result.ts';
import type { HttpRequest, RetrySettings } from './send.ts';
import { Secret } from './settings.ts';

/** How a client authenticates: with an API key or, in the browser, with the cookie of a console session. */
type Credentials =
  | { readonly apiKey: Secret; readonly userToken: Secret | null }
  /**
   * The browser adds the cookie. The token is sent with every request, so that requests from a page that shows an
   * earlier session are rejected. `isIdle` returns whether the user is inactive.
   */
  | { readonly csrfToken: () => string; readonly isIdle: () => boolean };

export type Connection = {
  readonly url: string;
  readonly credentials: Credentials;
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
  const { method, path, query, body, options } = call;
  requireTime(options?.timeoutMs ?? connection.timeoutMs);
  return {
    method,
    url: connection.url + path + queryOf(query),
    headers: {
      accept: 'application/json, application/problem+json',
      ...credentialHeaders(connection.credentials, call),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(method === 'GET' ? {} : { 'idempotency-key': idempotencyKeyOf(options?.idempotencyKey) }),
      ...call.headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  };
}

function credentialHeaders(credentials: Credentials, { auth, options }: Call): Readonly<Record<string, string>> {
  if ('csrfToken' in credentials) {
    const token = credentials.csrfToken();
    return {
      ...(token === '' ? {} : { 'x-csrf-token': token }),
      ...(credentials.isIdle() ? { 'x-inlet-background': '1' } : {}),
    };
  }
  if (auth === 'none' || auth === 'operator') return {};
  const { apiKey, userToken } = credentials;
  const token = options?.userToken === undefined ? userToken : new Secret(options.userToken, 'userToken');
  return {
    authorization: `Bearer ${apiKey.reveal()}`,
    ...(auth === 'key and user token' && token ? { 'x-user-token': token.reveal() } : {}),
  };
}

/** Removes the API key from a text, such as the message of a network error. */
export function withoutCredentials({ credentials }: Connection, text: string): string {
  return 'apiKey' in credentials ? credentials.apiKey.hideIn(text) : text;
}

function idempotencyKeyOf(given: string | undefined): string {
  if (given === undefined) return crypto.randomUUID();
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
