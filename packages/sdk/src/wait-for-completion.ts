import type { Call, CallApi, CallOptions } from './call.ts';
import { type Answered, type Result, fail, succeed } from './result.ts';
import { rest } from './send.ts';

export type AudienceWaitOptions<T> = WaitOptions<T> & {
  /**
   * `false` leaves `file` empty, and `onProgress` is then also called while the loaded files are read. Default: true.
   */
  readonly includeFiles?: boolean | undefined;
};

export type WaitOptions<T> = Pick<CallOptions, 'signal' | 'userToken'> & {
  /** Called with the first record and then after each change. */
  readonly onProgress?: ((record: T) => void) | undefined;
  /** Timeout for the whole wait. Default: unlimited. */
  readonly timeoutMs?: number | undefined;
};

/** The last record, used to detect changes. */
type Seen = { readonly text: string; readonly etag: string | null };

type Job = { readonly status: 0 | 1 | 2 | 3 };

/** Maximum duration of one long poll. It is shorter than the timeouts of most proxies. */
const longestWaitSeconds = 30;
/**
 * Minimum interval between two requests. A record changes many times a second while a file loads, and one request per
 * second is far below the rate limits.
 */
const minPollIntervalMs = 1_000;
const polling = { firstMs: 250, factor: 1.5, longestMs: 5_000 } as const;

/**
 * Polls a record until its status is 2 (done) or 3 (failed). Uses long polling (`Prefer: wait` with `If-None-Match`),
 * or polling with backoff if the server does not support long polling.
 */
export async function waitForCompletion<T extends Job>(
  callApi: CallApi,
  record: Pick<Call, 'path' | 'query' | 'auth'>,
  { onProgress, timeoutMs, signal, userToken }: WaitOptions<T>,
): Promise<Result<T>> {
  if (timeoutMs !== undefined && !(timeoutMs >= 0 && timeoutMs < 2 ** 31)) {
    return fail('invalid_argument', 'timeoutMs must be a number of milliseconds.', 0);
  }
  const limit = timeoutMs === undefined ? null : AbortSignal.timeout(timeoutMs);
  const signals = [signal, limit].filter((one) => one !== undefined && one !== null);
  const either = signals.length === 0 ? undefined : AbortSignal.any(signals);
  const end = performance.now() + (timeoutMs ?? Number.POSITIVE_INFINITY);
  const lateness = fail('timed_out', `The job did not complete within ${timeoutMs} ms. It continues to run.`);
  let last: Seen | null = null;
  let pollMs: number = polling.firstMs;

  for (;;) {
    const start = performance.now();
    const seconds = Math.min(longestWaitSeconds, Math.floor((end - start) / 1000));
    // With `onProgress`, the first request returns immediately, so that the current status is reported.
    const holds: boolean = seconds >= 1 && (last !== null || !onProgress);
    const result: Answered<T | undefined> = await callApi<T | undefined>({
      ...record,
      method: 'GET',
      acceptedStatuses: [304],
      headers: {
        ...(holds ? { prefer: `wait=${seconds}` } : {}),
        ...(holds && onProgress && last?.etag ? { 'if-none-match': last.etag } : {}),
      },
      options: { signal: either, userToken, timeoutMs: (holds ? seconds * 1000 : 0) + 30_000 },
    });
    if (!result.ok) return limit?.aborted && !signal?.aborted ? lateness : result;
    const value: T | undefined = result.value;
    const headers: Headers = result.answer.headers;
    const text: string = value === undefined ? '' : JSON.stringify(value);
    const hasChanged: boolean = value !== undefined && text !== last?.text;
    if (value !== undefined) {
      last = { text, etag: headers.get('etag') };
      if (hasChanged) onProgress?.(value);
      if (value.status >= 2) return succeed(value);
    }
    if (!holds && seconds >= 1) continue;
    const wasHeld = /\bwait\b/i.test(headers.get('preference-applied') ?? '');
    pollMs = hasChanged ? polling.firstMs : Math.min(polling.longestMs, pollMs * polling.factor);
    const untilNext = wasHeld ? minPollIntervalMs - (performance.now() - start) : pollMs * (0.5 + Math.random());
    if (untilNext > 0) await rest(untilNext, either);
    if (limit?.aborted && !signal?.aborted) return lateness;
  }
}
