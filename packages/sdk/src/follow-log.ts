import type { CallApi, CallOptions } from './call.ts';
import type { Event } from './generated/schemas.ts';
import { type Answered, type Problem, type Result, succeed } from './result.ts';
import { type RetrySettings, delayAfter, rest } from './send.ts';

export type EventOptions = Pick<CallOptions, 'signal' | 'userToken'> & {
  /** The `sequence` of the last known event. Default: 0, which yields all events of the last 30 days. */
  readonly after?: number | undefined;
};

/** Maximum duration of one long poll. It is shorter than the timeouts of most proxies. */
const waitSeconds = 30;
/** If the server does not wait, the log is read at this interval. */
const pollIntervalMs = 2_000;
const pageSize = 1000;

/**
 * Yields the events of the log and then new ones. While the API cannot be reached or is overloaded, tries again until the
 * signal is aborted, because a restart of the API must not end a program that follows the log for days. Ends after any
 * other problem.
 */
export async function* followLog(
  callApi: CallApi,
  { after = 0, signal, userToken }: EventOptions,
  retry: RetrySettings,
): AsyncGenerator<Result<Event>, void, undefined> {
  const isAborted = (): boolean => signal?.aborted === true;
  let last = after;
  let failures = 0;
  for (;;) {
    if (isAborted()) return;
    const page: Answered<readonly Event[]> = await callApi<readonly Event[]>({
      method: 'GET',
      path: '/v1/events',
      auth: 'key and user token',
      query: { after: last, limit: pageSize },
      headers: { prefer: `wait=${waitSeconds}` },
      options: { signal, userToken, timeoutMs: (waitSeconds + 30) * 1000 },
    });
    if (!page.ok) {
      if (isAborted() || !isTemporary(page.problem)) {
        yield page;
        return;
      }
      failures += 1;
      // The call has already made its own attempts.
      const delay = delayAfter(retry.attempts + failures, null, { ...retry, attempts: Number.POSITIVE_INFINITY });
      await rest(delay ?? retry.longestDelayMs, signal);
      continue;
    }
    failures = 0;
    for (const event of page.value) {
      yield succeed(event);
      last = event.sequence;
    }
    const hasWaited = page.answer.headers.has('preference-applied');
    if (page.value.length === 0 && !hasWaited) await rest(pollIntervalMs, signal);
  }
}

function isTemporary(problem: Problem): boolean {
  const { code, status } = problem;
  if (code === 'network_failed' || code === 'timed_out') return true;
  return status !== undefined && (status === 429 || status >= 500);
}
