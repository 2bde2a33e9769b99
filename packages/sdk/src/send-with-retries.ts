import { attempt, refuseForSignal, type HttpAnswer, type HttpRequest, type Limits } from './attempt.ts';
import type { LocalProblem } from './result.ts';
import { delayAfter, readRetryAfter, rest, type RetrySettings } from './retry.ts';

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
    if (limits.signal?.aborted) return refuseForSignal(limits.signal, attempts - 1);
    const tried = await attempt(await makeRequest(), limits);
    if (tried.ok && !isPassing(tried.value)) return { ok: true, answer: tried.value, attempts };
    const last: Sent = tried.ok
      ? { ok: true, answer: tried.value, attempts }
      : { ok: false, problem: { ...tried.problem, attempts } };
    if (limits.signal?.aborted) return last;
    const retryAfter = tried.ok ? readRetryAfter(tried.value.headers.get('retry-after')) : null;
    const delay = delayAfter(attempts, retryAfter, retry);
    if (delay === null) return last;
    if (!(await rest(delay, limits.signal)) && limits.signal) return refuseForSignal(limits.signal, attempts);
  }
}
