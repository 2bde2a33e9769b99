import type { HttpAnswer } from './attempt.ts';
import { apiCodes, type ApiCode } from './generated/codes.ts';
import { readNext } from './link.ts';
import { refuse, type Answered, type ApiProblem } from './result.ts';

/**
 * The value as the contract describes it. It is not held to the schemas again: the api's own tests do that, and a field
 * or a value that a later version adds must not break an older client.
 */
export function readAnswer<T>(answer: HttpAnswer, attempts: number, alsoFine: readonly number[] = []): Answered<T> {
  const { status, headers, text } = answer;
  const isFine = (status >= 200 && status < 300) || alsoFine.includes(status);
  const body = text === '' ? undefined : parseJson(headers, text);
  if (isFine && body !== notJson) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the one place where the contract is taken at its word
    return { ok: true, value: body as T, answer: { status, headers, next: readNext(headers.get('link')) } };
  }
  const problem = isFine ? null : readProblem(body, attempts);
  if (problem) return { ok: false, problem };
  return refuse('unreadable_answer', `HTTP ${status} with a body that is not of this api.`, attempts);
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

/** The code alone, of an answer that may be none of ours. */
export function codeOf({ headers, text }: HttpAnswer): string | null {
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
