import { type ApiCode, apiCodes } from './generated/codes.ts';
import { type Answered, type ApiProblem, fail } from './result.ts';
import type { HttpResponse } from './send.ts';

/**
 * Reads the query of the next page from `Link: <…?limit=50&cursor=117>; rel="next"` (RFC 8288). Ignores the rest of the
 * URL, so that the key is never sent to another host.
 */
export function readNext(header: string | null): Readonly<Record<string, string>> | null {
  for (const [, target = '', parameters = ''] of (header ?? '').matchAll(/<([^>]*)>((?:\s*;\s*[^,;]+)*)/g)) {
    if (!/;\s*rel\s*=\s*(?:"(?:[^"]*\s)?next(?:\s[^"]*)?"|next\b)/i.test(parameters)) continue;
    const query = target.split('#')[0]?.split('?')[1];
    if (query !== undefined && query !== '') return Object.fromEntries(new URLSearchParams(query));
  }
  return null;
}

/**
 * Returns the value of a response, typed as in the contract. The value is not validated, because the API's own tests do
 * that and because fields or values added by a later version must not break an older client.
 */
export function readResponse<T>(
  response: HttpResponse,
  attempts: number,
  acceptedStatuses: readonly number[] = [],
): Answered<T> {
  const { status, headers, text } = response;
  const isFine = (status >= 200 && status < 300) || acceptedStatuses.includes(status);
  const body = text === '' ? undefined : parseJson(headers, text);
  if (isFine && body !== notJson) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the API conforms to its contract
    return { ok: true, value: body as T, answer: { status, headers, next: readNext(headers.get('link')) } };
  }
  const problem = isFine ? null : readProblem(body, attempts);
  if (problem) return { ok: false, problem };
  const { problem: unreadable } = fail(
    'unreadable_answer',
    `The response with HTTP status ${status} is not from this API.`,
    attempts,
  );
  return { ok: false, problem: { ...unreadable, status } };
}

const notJson = Symbol('not JSON');

function parseJson(headers: Headers, text: string): unknown {
  if (!/^application\/(?:problem\+)?json\b/i.test(headers.get('content-type') ?? '')) return notJson;
  try {
    return JSON.parse(text);
  } catch {
    return notJson;
  }
}

/** Returns the error code of a response. Null if the response is not an Inlet problem. */
function codeOf({ headers, text }: HttpResponse): string | null {
  const body = parseJson(headers, text);
  return isObject(body) && typeof body['code'] === 'string' ? body['code'] : null;
}

function readProblem(body: unknown, attempts: number): ApiProblem | null {
  if (!isObject(body) || typeof body['code'] !== 'string' || typeof body['status'] !== 'number') return null;
  const code = body['code'];
  return {
    from: 'api',
    code: isApiCode(code) ? code : 'unknown_code',
    type: textOf(body['type']),
    status: body['status'],
    title: textOf(body['title']),
    detail: textOf(body['detail']),
    instance: textOf(body['instance']),
    request_id: textOf(body['request_id']),
    errors: readFields(body['errors']),
    attempts,
  };
}

function readFields(errors: unknown): ApiProblem['errors'] {
  if (!Array.isArray(errors)) return [];
  return errors.filter(isObject).map(({ pointer, detail }) => ({ pointer: textOf(pointer), detail: textOf(detail) }));
}

function isApiCode(code: string): code is ApiCode {
  return Object.hasOwn(apiCodes, code);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

const retryableStatuses = new Set([429, 502, 503, 504]);

/** Whether the client is rate limited, the service is unavailable, or the same write is still in progress. */
export function isRetryable(response: HttpResponse): boolean {
  return (
    retryableStatuses.has(response.status) || (response.status === 409 && codeOf(response) === 'idempotency_key_in_use')
  );
}
