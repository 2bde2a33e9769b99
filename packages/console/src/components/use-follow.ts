import type { Problem, Result, ServerEvent } from '@inlet/sdk/browser';
import { useEffect, useState } from 'preact/hooks';
import { csrfToken, noteExpiry } from '../api.ts';
import { canReconnect, reconnectDelay } from './reconnect.ts';

export type Followed<T> = {
  /** The last record, which stays while the connection is lost. */
  readonly value: T | undefined;
  /** Also set while reconnecting, if there is no record yet. */
  readonly problem: Problem | undefined;
  readonly isReconnecting: boolean;
  /** Resumes following after the job has ended, for example because files were appended. */
  readonly restart: () => void;
};

type State<T> = Omit<Followed<T>, 'restart'> & { readonly key: string };

type Follow<T> = (signal: AbortSignal) => AsyncGenerator<Result<ServerEvent<T>>, void, undefined>;

/**
 * Follows a record through server-sent events until its job ends. Reconnects when the API restarts. A hidden tab closes
 * its stream, because browsers allow only six connections to a server over HTTP/1.1.
 */
export function useFollow<T>(key: string, follow: Follow<T>): Followed<T> {
  const [attempt, setAttempt] = useState(0);
  const [isVisible, setVisible] = useState(document.visibilityState === 'visible');
  const [state, setState] = useState<State<T>>({ key, value: undefined, problem: undefined, isReconnecting: false });

  useEffect(() => {
    const note = (): void => setVisible(document.visibilityState === 'visible');
    document.addEventListener('visibilitychange', note);
    return () => document.removeEventListener('visibilitychange', note);
  }, []);

  useEffect(() => {
    if (!isVisible) return undefined;
    const stop = new AbortController();
    void followUntilDone(follow, stop.signal, (change) => {
      if (stop.signal.aborted) return;
      if (change.problem) noteExpiry(change.problem);
      setState((last) => ({
        key,
        value: change.value ?? (last.key === key ? last.value : undefined),
        problem: change.problem,
        isReconnecting: change.isReconnecting,
      }));
    });
    return () => stop.abort();
    // `follow` is a new function on every render. `key` identifies the record. The API rejects calls with an earlier
    // token.
  }, [key, attempt, isVisible, csrfToken.value]);

  const isCurrent = state.key === key;
  return {
    value: isCurrent ? state.value : undefined,
    problem: isCurrent && !(state.isReconnecting && state.value) ? state.problem : undefined,
    isReconnecting: isCurrent && state.isReconnecting,
    restart: () => setAttempt((last) => last + 1),
  };
}

type Change<T> = {
  readonly value?: T;
  readonly problem: Problem | undefined;
  readonly isReconnecting: boolean;
};

async function followUntilDone<T>(
  follow: Follow<T>,
  signal: AbortSignal,
  onChange: (change: Change<T>) => void,
): Promise<void> {
  for (let failures = 0; !signal.aborted; failures += 1) {
    let lost: Problem | undefined;
    for await (const result of follow(signal)) {
      if (result.ok) {
        failures = 0;
        onChange({ value: result.value.data, problem: undefined, isReconnecting: false });
      } else {
        lost = result.problem;
      }
    }
    if (!lost || signal.aborted) return;
    if (!canReconnect(lost)) {
      onChange({ problem: lost, isReconnecting: false });
      return;
    }
    onChange({ problem: lost, isReconnecting: true });
    await new Promise((resolve) => setTimeout(resolve, reconnectDelay(failures)));
  }
}
