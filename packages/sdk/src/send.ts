import { setTimeout as pause } from 'node:timers/promises';
import { type LocalProblem, type Success, fail, succeed } from './result.ts';

export type HttpRequest = {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer> | undefined;
};

export type HttpAnswer = { readonly status: number; readonly headers: Headers; readonly text: string };

export type Limits = { readonly timeoutMs: number; readonly signal: AbortSignal | undefined };

/** One request and its whole answer. Redirects are not followed: nothing that is sent is meant for another address. */
async function sendOnce(
  request: HttpRequest,
  { timeoutMs, signal }: Limits,
): Promise<Success<HttpAnswer> | { readonly ok: false; readonly problem: LocalProblem }> {
  const timer = AbortSignal.timeout(timeoutMs);
  const { url, method } = request;
  try {
    const answer = await fetch(url, {
      method,
      ...contentOf(request),
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, timer]) : timer,
    });
    return succeed({ status: answer.status, headers: answer.headers, text: await answer.text() });
  } catch (error) {
    if (signal?.aborted) return abortedBy(signal);
    if (timer.aborted) return fail('timed_out', `No answer within ${timeoutMs} ms.`);
    return fail('network_failed', describe(error));
  }
}

const pieceBytes = 262_144;

/**
 * Node ends a request on which nothing moves for five minutes, and a body that is handed over at once is one move, however
 * long it takes. In pieces, a slow line has as long as `timeoutMs` says.
 */
function contentOf({ headers, body }: HttpRequest): Pick<RequestInit, 'headers' | 'body' | 'duplex'> {
  if (body === undefined) return { headers };
  const isLarge = body instanceof Uint8Array && body.byteLength > pieceBytes && process.versions['bun'] === undefined;
  if (!isLarge) return { headers, body };
  // The storage takes no body of unknown length.
  const withLength = { ...headers, 'content-length': String(body.byteLength) };
  return { headers: withLength, body: piecesOf(body), duplex: 'half' };
}

function piecesOf(bytes: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array> {
  let given = 0;
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    const piece = bytes.subarray(given, given + pieceBytes);
    given += piece.byteLength;
    if (piece.byteLength === 0) controller.close();
    else controller.enqueue(piece);
  };
  return new ReadableStream({ pull }, { highWaterMark: 0 });
}

/** A signal of `AbortSignal.timeout` is a time limit like any other. */
export function abortedBy(signal: AbortSignal, attempts = 1): ReturnType<typeof fail> {
  const isTimeout = signal.reason instanceof DOMException && signal.reason.name === 'TimeoutError';
  return isTimeout
    ? fail('timed_out', 'The time limit of the signal ran out.', attempts)
    : fail('aborted', 'The signal ended the call.', attempts);
}

/** `fetch failed` says nothing; the cause does. */
export function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? error.cause : error;
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.name;
  return cause.message.includes(code) ? cause.message : `${code}: ${cause.message}`.replace(/: $/, '');
}

export type RetrySettings = {
  /** How often a call is tried at most, the first time included. */
  readonly attempts: number;
  /** The most before the second attempt; it doubles with each further one. */
  readonly firstDelayMs: number;
  readonly longestDelayMs: number;
  /** A longer `Retry-After` is not waited for: the problem is given back instead. */
  readonly longestRetryAfterMs: number;
};

export const defaultRetry: RetrySettings = {
  attempts: 5,
  firstDelayMs: 250,
  longestDelayMs: 10_000,
  longestRetryAfterMs: 60_000,
};

/**
 * How long to wait after an attempt, from 1; null: not at all, give up. Somewhere between nothing and twice as much as
 * before, so that many clients that failed together do not come back together. What the api asks for is kept, and spread.
 */
export function delayAfter(
  attempt: number,
  retryAfterMs: number | null,
  settings: RetrySettings,
  random: () => number = Math.random,
): number | null {
  if (attempt >= settings.attempts) return null;
  const most = Math.min(settings.longestDelayMs, settings.firstDelayMs * 2 ** (attempt - 1));
  if (retryAfterMs === null) return random() * most;
  if (retryAfterMs > settings.longestRetryAfterMs) return null;
  return retryAfterMs + random() * settings.firstDelayMs;
}

/** `Retry-After` in milliseconds: seconds, or a date. Null where there is none. */
export function readRetryAfter(header: string | null, now: number = Date.now()): number | null {
  if (header === null) return null;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}

/** False when the signal ended it. */
export async function rest(milliseconds: number, signal: AbortSignal | undefined): Promise<boolean> {
  try {
    await pause(milliseconds, undefined, signal ? { signal } : {});
    return true;
  } catch {
    return false;
  }
}

export type Sent =
  | { readonly ok: true; readonly answer: HttpAnswer; readonly attempts: number }
  | { readonly ok: false; readonly problem: LocalProblem };

/**
 * Tries until an answer comes that another attempt would not change, or the attempts are used up. The last answer is
 * given back whatever it is. `makeRequest` is asked for each attempt: a signature has a time in it.
 */
export async function sendWithRetries(
  makeRequest: () => HttpRequest | Promise<HttpRequest>,
  isPassing: (answer: HttpAnswer) => boolean,
  { retry, ...limits }: Limits & { readonly retry: RetrySettings },
): Promise<Sent> {
  for (let attempts = 1; ; attempts += 1) {
    if (limits.signal?.aborted) return abortedBy(limits.signal, attempts - 1);
    const tried = await sendOnce(await makeRequest(), limits);
    if (tried.ok && !isPassing(tried.value)) return { ok: true, answer: tried.value, attempts };
    const last: Sent = tried.ok
      ? { ok: true, answer: tried.value, attempts }
      : { ok: false, problem: { ...tried.problem, attempts } };
    if (limits.signal?.aborted) return last;
    const retryAfter = tried.ok ? readRetryAfter(tried.value.headers.get('retry-after')) : null;
    const delay = delayAfter(attempts, retryAfter, retry);
    if (delay === null) return last;
    if (!(await rest(delay, limits.signal)) && limits.signal) return abortedBy(limits.signal, attempts);
  }
}
