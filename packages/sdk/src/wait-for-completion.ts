import type { Call, CallApi, CallOptions } from './call.ts';
import { type Answered, type Result, fail, succeed } from './result.ts';
import { rest } from './send.ts';

export type WaitOptions<T> = Pick<CallOptions, 'signal' | 'userToken'> & {
  /** Called with the record at first, and then each time it has changed. */
  readonly onProgress?: ((record: T) => void) | undefined;
  /** For the whole wait; without it, as long as the job takes. */
  readonly timeoutMs?: number | undefined;
};

/** The last record, to tell whether the next one is another. */
type Seen = { readonly text: string; readonly etag: string | null };

type Job = { readonly status: 0 | 1 | 2 | 3 };

/** Shorter than the patience of most proxies. */
const longestWaitSeconds = 30;
/** A record changes many times a second while a file is read; a look a second is enough, and far below the limits. */
const leastBetweenLooksMs = 1_000;
const polling = { firstMs: 250, factor: 1.5, longestMs: 5_000 } as const;

/**
 * Looks at a record until its status is final. The api holds its answer back until there is something new (`Prefer: wait`
 * with `If-None-Match`); one that does not know how is asked again and again, less often the less happens.
 */
export async function waitForCompletion<T extends Job>(
  callApi: CallApi,
  record: Pick<Call, 'path' | 'proof'>,
  { onProgress, timeoutMs, signal, userToken }: WaitOptions<T>,
): Promise<Result<T>> {
  if (timeoutMs !== undefined && !(timeoutMs >= 0 && timeoutMs < 2 ** 31)) {
    return fail('invalid_argument', 'timeoutMs must be a number of milliseconds.', 0);
  }
  const limit = timeoutMs === undefined ? null : AbortSignal.timeout(timeoutMs);
  const signals = [signal, limit].filter((one) => one !== undefined && one !== null);
  const either = signals.length === 0 ? undefined : AbortSignal.any(signals);
  const end = performance.now() + (timeoutMs ?? Number.POSITIVE_INFINITY);
  const lateness = fail('timed_out', `The job has not ended within ${timeoutMs} ms. It goes on.`);
  let last: Seen | null = null;
  let pollMs: number = polling.firstMs;

  for (;;) {
    const start = performance.now();
    const seconds = Math.min(longestWaitSeconds, Math.floor((end - start) / 1000));
    // Whoever wants to see progress wants to see where the job stands, at once.
    const holds: boolean = seconds >= 1 && (last !== null || !onProgress);
    const answered: Answered<T | undefined> = await callApi<T | undefined>({
      ...record,
      method: 'GET',
      alsoFine: [304],
      headers: {
        ...(holds ? { prefer: `wait=${seconds}` } : {}),
        ...(holds && onProgress && last?.etag ? { 'if-none-match': last.etag } : {}),
      },
      options: { signal: either, userToken, timeoutMs: (holds ? seconds * 1000 : 0) + 30_000 },
    });
    if (!answered.ok) return limit?.aborted && !signal?.aborted ? lateness : answered;
    const value: T | undefined = answered.value;
    const headers: Headers = answered.answer.headers;
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
    const untilNext = wasHeld ? leastBetweenLooksMs - (performance.now() - start) : pollMs * (0.5 + Math.random());
    if (untilNext > 0) await rest(untilNext, either);
    if (limit?.aborted && !signal?.aborted) return lateness;
  }
}
