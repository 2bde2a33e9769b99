import { signal } from '@preact/signals';
import { type Answered, InletSession, type Problem } from '@inlet/sdk/browser';
import { useLayoutEffect, useState } from 'preact/hooks';
import { hasExpired } from './expiry.ts';
import { isIdle } from './idle.ts';
import { repeat } from './repeat.ts';

/**
 * Set at sign-in. It is sent with every request, so that the API rejects requests from a page that shows an earlier
 * user.
 */
export const csrfToken = signal('');

/** The public API, called with the session's cookie. The console has no other access. */
export const api = new InletSession({ csrfToken: () => csrfToken.value, isIdle });

/** Counts calls that the API rejected because the browser now has another session. */
export const rejectedCalls = signal(0);

export type Loaded<T> = {
  /** The last value, which stays while a newer one is loading. Undefined before the first response. */
  readonly value: T | undefined;
  /** The reason why the last call failed. It stays until a call succeeds. */
  readonly problem: Problem | undefined;
  readonly isLoading: boolean;
  readonly next: Readonly<Record<string, string>> | null;
  readonly reload: () => void;
};

type LoadOptions<T> = {
  /**
   * The delay after each response before the next call, while the page is visible. If undefined, there are no more
   * calls.
   */
  readonly refreshMs?: number | ((value: T) => number | undefined) | undefined;
  /**
   * A change triggers a new call. Unlike after a change of the key, the last value stays until the response arrives.
   */
  readonly version?: string | number;
  /** Makes no call, for example until a form is complete. */
  readonly isPaused?: boolean;
};

type State<T> = Omit<Loaded<T>, 'reload'> & { readonly key: string };

const retryMs = 30_000;

/** Calls the API when the page opens and whenever `key` changes. */
export function useApi<T>(
  key: string,
  call: (signal: AbortSignal) => Promise<Answered<T>>,
  { refreshMs, version, isPaused = false }: LoadOptions<T> = {},
): Loaded<T> {
  const [attempt, setAttempt] = useState(0);
  const initial = { key, value: undefined, problem: undefined, isLoading: true, next: null };
  const [state, setState] = useState<State<T>>(initial);
  const fixedMs = typeof refreshMs === 'number' ? refreshMs : undefined;
  // If the user has signed in again in another tab, the API rejects calls that were sent with the earlier token.
  const token = csrfToken.value;
  // Runs before the browser paints, because painting takes longer than sending the request.
  useLayoutEffect(() => {
    if (isPaused) return undefined;
    return repeat(async (stopped) => {
      setState((last) => {
        if (last.key !== key) return initial;
        return last.isLoading ? last : { ...last, isLoading: true };
      });
      const result = await call(stopped);
      if (stopped.aborted) return undefined;
      if (result.ok) {
        setState({ key, value: result.value, problem: undefined, isLoading: false, next: result.answer.next });
        return typeof refreshMs === 'function' ? refreshMs(result.value) : refreshMs;
      }
      noteExpiry(result.problem);
      setState((last) => ({ ...last, problem: result.problem, isLoading: false }));
      return typeof refreshMs === 'function' ? retryMs : refreshMs;
    });
    // `call` is a new function on every render. `key` and `version` change when its result can differ.
  }, [key, version, attempt, isPaused, fixedMs, token]);
  const current = state.key === key ? state : initial;
  return {
    value: current.value,
    problem: current.problem,
    isLoading: current.isLoading,
    next: current.next,
    reload: () => setAttempt((last) => last + 1),
  };
}

/** Shows a notice if the session has ended, or if another user has signed in through another tab. */
export function noteExpiry(problem: Problem): void {
  if (problem.from !== 'api') return;
  if (problem.status === 401) hasExpired.value = true;
  if (problem.code === 'csrf_token_invalid') rejectedCalls.value += 1;
}
