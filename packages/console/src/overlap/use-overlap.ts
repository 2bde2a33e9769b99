import type { Overlap, Problem } from '@inlet/sdk/browser';
import { useEffect, useRef, useState } from 'preact/hooks';
import { api, noteExpiry } from '../api.ts';

type State = {
  readonly overlap: Overlap | null;
  readonly problem: Problem | null;
  readonly isCounting: boolean;
};

const initial: State = { overlap: null, problem: null, isCounting: false };
const retryMs = 3_000;

/** Counts an overlap on request, and discards it when other audiences are chosen. */
export function useOverlap(audienceIds: readonly number[]): State & { readonly count: () => void } {
  const [state, setState] = useState<State>(initial);
  const stop = useRef(new AbortController());
  const key = audienceIds.join(',');
  useEffect(() => {
    stop.current = new AbortController();
    setState(initial);
    return () => stop.current.abort();
  }, [key]);

  async function count(): Promise<void> {
    const { signal } = stop.current;
    setState({ ...initial, isCounting: true });
    for (;;) {
      const result = await api.getOverlap({ audience_ids: [...audienceIds] }, { signal });
      if (signal.aborted) return;
      if (result.ok) {
        setState({ ...initial, overlap: result.value });
        return;
      }
      if (result.problem.code !== 'report_not_ready') {
        noteExpiry(result.problem);
        setState({ ...initial, problem: result.problem });
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, retryMs));
    }
  }

  return { ...state, count: () => void count() };
}
