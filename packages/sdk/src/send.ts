import { type LocalProblem, type Success, fail, succeed } from './result.ts';

export type HttpRequest = {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer> | undefined;
};

export type HttpResponse = { readonly status: number; readonly headers: Headers; readonly text: string };

export type Limits = { readonly timeoutMs: number; readonly signal: AbortSignal | undefined };

/** `retryAfterMs` is also set if the connection broke after the headers had arrived. */
type Tried = (Success<HttpResponse> | { readonly ok: false; readonly problem: LocalProblem }) & {
  readonly retryAfterMs: number | null;
};

/**
 * Sends one request and reads the whole response. Does not follow redirects, so that credentials are sent to only one
 * host.
 */
async function sendOnce(request: HttpRequest, { timeoutMs, signal }: Limits): Promise<Tried> {
  const timer = AbortSignal.timeout(timeoutMs);
  const { url, method } = request;
  let retryAfterMs: number | null = null;
  try {
    const response = await fetch(url, {
      method,
      ...contentOf(request),
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, timer]) : timer,
    });
    const { status, headers } = response;
    retryAfterMs = readRetryAfter(headers.get('retry-after'));
    return { ...succeed({ status, headers, text: await response.text() }), retryAfterMs };
  } catch (error) {
    if (signal?.aborted) return { ...abortedBy(signal), retryAfterMs };
    if (timer.aborted) return { ...fail('timed_out', `No response within ${timeoutMs} ms.`), retryAfterMs };
    return { ...fail('network_failed', describe(error)), retryAfterMs };
  }
}

const pieceBytes = 262_144;

/**
 * Node aborts a request that makes no progress for five minutes, and a body in one buffer makes no progress until it is
 * completely sent. Sending the body in pieces lets a slow connection use the full `timeoutMs`.
 */
function contentOf({ headers, body }: HttpRequest): Pick<RequestInit, 'headers' | 'body'> & { duplex?: 'half' } {
  if (body === undefined) return { headers };
  const isLarge = body instanceof Uint8Array && body.byteLength > pieceBytes && !('Bun' in globalThis);
  if (!isLarge) return { headers, body };
  // The storage rejects a body of unknown length.
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

/** Reports `AbortSignal.timeout` as a timeout and any other signal as an abort. */
export function abortedBy(signal: AbortSignal, attempts = 1): ReturnType<typeof fail> {
  const isTimeout = signal.reason instanceof DOMException && signal.reason.name === 'TimeoutError';
  return isTimeout
    ? fail('timed_out', 'The signal timed out.', attempts)
    : fail('aborted', 'The signal aborted the call.', attempts);
}

/** Describes the cause of an error, because `fetch failed` is not informative. */
export function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? error.cause : error;
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.name;
  return cause.message.includes(code) ? cause.message : `${code}: ${cause.message}`.replace(/: $/, '');
}

export type RetrySettings = {
  /** Maximum number of attempts, including the first. */
  readonly attempts: number;
  /** Maximum delay before the second attempt. The maximum doubles with each further attempt. */
  readonly firstDelayMs: number;
  readonly longestDelayMs: number;
  /** If `Retry-After` is longer, the call returns the problem instead of waiting. */
  readonly longestRetryAfterMs: number;
};

export const defaultRetry: RetrySettings = {
  attempts: 5,
  firstDelayMs: 250,
  longestDelayMs: 10_000,
  longestRetryAfterMs: 60_000,
};

/**
 * Returns the delay after an attempt, or null if the client gives up. The first attempt is number 1. Uses exponential
 * backoff with full jitter, so that clients that failed together do not retry together. If the response has
 * `Retry-After`, jitter is added to that time.
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

/** Parses `Retry-After` (seconds or a date) into milliseconds. Null if there is none. */
export function readRetryAfter(header: string | null, now: number = Date.now()): number | null {
  if (header === null) return null;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}

/** Returns false if the signal aborted the wait. */
export function rest(milliseconds: number, signal: AbortSignal | undefined): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (isComplete: boolean): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      resolve(isComplete);
    };
    const abort = (): void => end(false);
    const timer = setTimeout(() => end(true), milliseconds);
    if (signal?.aborted) abort();
    else signal?.addEventListener('abort', abort);
  });
}

export type Sent =
  | { readonly ok: true; readonly response: HttpResponse; readonly attempts: number }
  | { readonly ok: false; readonly problem: LocalProblem };

/**
 * Sends a request until the response is not retryable or no attempts are left. Returns the last response. Calls
 * `makeRequest` for each attempt, because a signature contains the time.
 */
export async function sendWithRetries(
  makeRequest: () => HttpRequest | Promise<HttpRequest>,
  shouldRetry: (response: HttpResponse) => boolean,
  { retry, ...limits }: Limits & { readonly retry: RetrySettings },
): Promise<Sent> {
  for (let attempts = 1; ; attempts += 1) {
    if (limits.signal?.aborted) return abortedBy(limits.signal, attempts - 1);
    const tried = await sendOnce(await makeRequest(), limits);
    if (tried.ok && !shouldRetry(tried.value)) return { ok: true, response: tried.value, attempts };
    const last: Sent = tried.ok
      ? { ok: true, response: tried.value, attempts }
      : { ok: false, problem: { ...tried.problem, attempts } };
    if (limits.signal?.aborted) return last;
    const delay = delayAfter(attempts, tried.retryAfterMs, retry);
    if (delay === null) return last;
    if (!(await rest(delay, limits.signal)) && limits.signal) return abortedBy(limits.signal, attempts);
  }
}
