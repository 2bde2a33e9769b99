import { signal } from '@preact/signals';
import { type Answered, InletSession, type Problem } from '@inlet/sdk/browser';
import { useEffect, useState } from 'preact/hooks';
import { isIdle } from './idle.ts';

/** Set at sign-in. Every request carries it, so that the API rejects requests of a page that shows an earlier user. */
export const csrfToken = signal('');

/** The public API, called with the session's cookie. The console has no other access. */
export const api = new InletSession({ csrfToken: () => csrfToken.value, isIdle });

/** Whether the API rejected a call because the session has ended. */
export const hasExpired = signal(false);

/** Counts calls that the API rejected because the browser has another session now. */
export const rejectedCalls = signal(0);

export type Loaded<T> = {
  /** The last value, which stays while a newer one is loading. Undefined before the first response. */
  readonly value: T | undefined;
  readonly problem: Problem | undefined;
  readonly isLoading: boolean;
  readonly next: Readonly<Record<string, string>> | null;
  readonly reload: () => void;
};

type LoadOptions = {
  /** Loads again after this time, while the page is visible. */
  readonly refreshMs?: number | undefined;
  /** Calls nothing, for example until a form is complete. */
  readonly isPaused?: boolean;
};

/** Calls the API when the page opens and whenever `key` changes. */
export function useApi<T>(
  key: string,
  call: (signal: AbortSignal) => Promise<Answered<T>>,
  { refreshMs, isPaused = false }: LoadOptions = {},
): Loaded<T> {
  const [attempt, setAttempt] = useState(0);
  const [state, setState] = useState<Omit<Loaded<T>, 'reload'> & { readonly key: string }>({
    key,
    value: undefined,
    problem: undefined,
    isLoading: true,
    next: null,
  });
  useEffect(() => {
    if (isPaused) return undefined;
    const stop = new AbortController();
    setState((last) => ({
      ...(last.key === key ? last : { value: undefined, next: null }),
      key,
      problem: undefined,
      isLoading: true,
    }));
    const run = async (): Promise<void> => {
      const result = await call(stop.signal);
      if (stop.signal.aborted) return;
      if (result.ok) {
        setState({ key, value: result.value, problem: undefined, isLoading: false, next: result.answer.next });
      } else {
        noteExpiry(result.problem);
        setState((last) => ({ ...last, problem: result.problem, isLoading: false }));
      }
    };
    void run();
    return () => stop.abort();
    // `call` is a new function at every render; `key` says when its result can differ.
  }, [key, attempt, isPaused]);
  const reload = (): void => setAttempt((last) => last + 1);
  useEffect(() => {
    if (refreshMs === undefined) return undefined;
    const timer = setInterval(() => document.visibilityState === 'visible' && reload(), refreshMs);
    return () => clearInterval(timer);
  }, [refreshMs]);
  const isCurrent = state.key === key;
  return {
    value: isCurrent ? state.value : undefined,
    problem: isCurrent ? state.problem : undefined,
    isLoading: state.isLoading || !isCurrent,
    next: isCurrent ? state.next : null,
    reload,
  };
}

/** Shows a notice if the session has ended, or if another user has signed in in another tab. */
export function noteExpiry(problem: Problem): void {
  if (problem.from !== 'api') return;
  if (problem.status === 401) hasExpired.value = true;
  if (problem.code === 'csrf_token_invalid') rejectedCalls.value += 1;
}
