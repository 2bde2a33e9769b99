import { signal } from '@preact/signals';
import type { Answered, Problem } from '@inlet/sdk/browser';
import { useEffect, useState } from 'preact/hooks';
import { noteExpiry } from '../api.ts';
import { repeat } from '../repeat.ts';
import { formatTimeOfDay } from './times.ts';

/** Whether the pages for operators refresh automatically. */
export const isLive = signal(true);

export type Live<T> = {
  /** The last value, which stays if a later call fails. Undefined before the first response. */
  readonly value: T | undefined;
  /** When the API sent the value, by the clock of the API, in milliseconds. */
  readonly at: number;
  readonly problem: Problem | undefined;
  readonly next: Readonly<Record<string, string>> | null;
  readonly reload: () => void;
};

type State<T> = Omit<Live<T>, 'reload'> & { readonly key: string };

/** Calls the API immediately and then after each interval, until the reader pauses the pages for operators. */
export function useLive<T>(
  key: string,
  call: (signal: AbortSignal) => Promise<Answered<T>>,
  intervalMs: number,
): Live<T> {
  const initial = { key, value: undefined, at: 0, problem: undefined, next: null };
  const [state, setState] = useState<State<T>>(initial);
  const [attempt, setAttempt] = useState(0);
  const current = state.key === key ? state : initial;
  const isRepeated = isLive.value;
  const isNeeded = isRepeated || current.value === undefined || current.problem !== undefined;
  useEffect(() => {
    if (!isNeeded) return undefined;
    return repeat(async (stopped) => {
      const result = await call(stopped);
      if (stopped.aborted) return undefined;
      if (result.ok) {
        const at = Date.parse(result.answer.headers.get('date') ?? '') || Date.now();
        setState({ key, value: result.value, at, problem: undefined, next: result.answer.next });
      } else {
        noteExpiry(result.problem);
        const { problem } = result;
        setState((last) => (last.key === key ? { ...last, problem } : { ...initial, problem }));
      }
      return isRepeated ? intervalMs : undefined;
    });
    // `call` is a new function on every render. `key` changes when its result can differ.
  }, [key, attempt, isRepeated, intervalMs]);
  return {
    value: current.value,
    at: current.at,
    problem: current.problem,
    next: current.next,
    reload: () => setAttempt((last) => last + 1),
  };
}

/** Shows how fresh the page is, and lets the reader pause it. Its size does not depend on the time or the state. */
export function LiveControl({ live }: { readonly live: Live<unknown> }) {
  const time = live.at === 0 ? '' : formatTimeOfDay(new Date(live.at).toISOString(), 'medium');
  const isStale = live.problem !== undefined && live.value !== undefined;
  return (
    <>
      <span class={`freshness small ${isStale ? 'stale' : 'muted'}`}>
        {isStale ? `No response since ${time}` : time && `Updated ${time}`}
      </span>
      <output class="visually-hidden">
        {isStale ? 'The API is not responding. The page shows the last known state.' : ''}
      </output>
      <PauseButton />
    </>
  );
}

export function PauseButton() {
  return (
    <button type="button" class="pause" onClick={() => (isLive.value = !isLive.value)}>
      {isLive.value ? 'Pause' : 'Resume'}
      <span class="visually-hidden"> live updates</span>
    </button>
  );
}
