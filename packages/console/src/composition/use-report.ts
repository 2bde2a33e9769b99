import type { Answered, Composition, CompositionEntry, Problem } from '@inlet/sdk/browser';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { api, noteExpiry } from '../api.ts';
import type { Order } from './view.ts';

export type ReportQuery = {
  readonly order: Order;
  readonly small: 'include' | 'omit';
  readonly split?: Exclude<Composition['split'], null>;
  readonly name?: string;
  readonly baseline_segment_id?: number;
  readonly baseline_country?: string;
};

type NextPage = Readonly<Record<string, string>> | null;

type State = {
  /** The query that the other fields belong to. */
  readonly key: string;
  /** The first page. It stays while another view of the audience is loading, unless loading fails. */
  readonly report: Composition | null;
  /** Undefined until a report has been loaded. */
  readonly audienceId: number | undefined;
  /** The entries of all loaded pages. */
  readonly entries: readonly CompositionEntry[];
  readonly next: NextPage;
  readonly problem: Problem | null;
  readonly isLoading: boolean;
  /** Whether a worker is still computing the report. */
  readonly isWaiting: boolean;
};

export type LoadedReport = Omit<State, 'key'> & { readonly loadMore: () => void; readonly reload: () => void };

const nothing = { report: null, entries: [], next: null, problem: null, isLoading: false, isWaiting: false } as const;

/** A page has about 20 kB. */
const entriesPerPage = 50;

const slowAfterMs = 3_000;
const retryMs = 3_000;

/** Loads a report page by page, and waits while it is being computed. `query` is null until it is known. */
export function useReport(segmentId: number, query: ReportQuery | null): LoadedReport {
  const key = JSON.stringify(query);
  const [state, setState] = useState<State>({
    ...nothing,
    key,
    audienceId: undefined,
    isLoading: true,
  });
  const [attempt, setAttempt] = useState(0);
  const stopLoading = useRef(new AbortController());
  // Runs before the browser paints, because painting takes longer than sending the request.
  useLayoutEffect(() => {
    if (!query) return undefined;
    const stop = new AbortController();
    stopLoading.current = stop;
    setState((last) => (last.isLoading && !last.problem ? last : { ...last, problem: null, isLoading: true }));
    // The API responds only when the report has been computed, or after 20 seconds.
    const timer = setTimeout(() => setState((last) => ({ ...last, isWaiting: true })), slowAfterMs);
    const load = async (): Promise<void> => {
      const result = await loadPage(segmentId, { ...query, limit: entriesPerPage }, stop.signal);
      if (stop.signal.aborted) return;
      clearTimeout(timer);
      if (!result.ok) {
        noteExpiry(result.problem);
        setState(({ audienceId }) => ({ ...nothing, key, audienceId, problem: result.problem }));
        return;
      }
      const { value: report, answer } = result;
      setState({
        ...nothing,
        key,
        report,
        audienceId: report.audience_id,
        entries: report.attributes,
        next: answer.next,
      });
    };
    void load();
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
    // `query` is a new object on every render.
  }, [segmentId, key, attempt]);

  const reload = (): void => setAttempt((last) => last + 1);

  async function loadMore(): Promise<void> {
    const { signal } = stopLoading.current;
    if (!state.next || state.isLoading) return;
    setState((last) => ({ ...last, problem: null, isLoading: true }));
    const result = await loadPage(segmentId, state.next, signal);
    if (signal.aborted) return;
    if (!result.ok) {
      noteExpiry(result.problem);
      setState((last) => ({ ...last, problem: result.problem, isLoading: false }));
    } else if (result.value.computed_at === state.report?.computed_at) {
      setState((last) => ({
        ...last,
        entries: [...last.entries, ...result.value.attributes],
        next: result.answer.next,
        isLoading: false,
      }));
    } else {
      // The report has been recomputed, so the loaded pages are out of date.
      reload();
    }
  }

  return { ...state, isLoading: state.isLoading || state.key !== key, loadMore: () => void loadMore(), reload };
}

/** Repeats the call until the report has been computed. */
async function loadPage(
  segmentId: number,
  query: Readonly<Record<string, string | number>>,
  signal: AbortSignal,
): Promise<Answered<Composition>> {
  for (;;) {
    const result = await api.getComposition(segmentId, { query, signal });
    if (signal.aborted || result.ok || result.problem.code !== 'report_not_ready') return result;
    await new Promise((resolve) => setTimeout(resolve, retryMs));
  }
}
