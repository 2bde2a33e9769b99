import type { Answered, Problem } from '@inlet/sdk/browser';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { noteExpiry } from '../api.ts';
import { ProblemNotice, Skeleton } from './state.tsx';

type PageQuery = Readonly<Record<string, string>>;

export type Column<T> = {
  readonly name: string;
  readonly isNumber?: boolean;
  readonly cell: (item: T) => ComponentChildren;
};

type Props<T> = {
  /** Says when the list is a different one, for example because a filter changed. */
  readonly listKey: string;
  readonly caption: string;
  /** Loads one page. `query` contains the cursor, and is empty for the first page. */
  readonly load: (query: PageQuery, signal: AbortSignal) => Promise<Answered<readonly T[]>>;
  readonly rowKey: (item: T) => string | number;
  /** The first column names the row. */
  readonly columns: readonly [Column<T>, ...Column<T>[]];
  readonly empty: ComponentChildren;
  /** Loads the first page again after this time while the page is visible and no further page is open. */
  readonly refreshMs?: number | ((items: readonly T[]) => number | undefined);
};

/** A table that loads a page at a time. Only the loaded pages are in memory. */
export function PagedTable<T>({ listKey, caption, load, rowKey, columns, empty, refreshMs }: Props<T>) {
  const [items, setItems] = useState<readonly T[] | null>(null);
  const [next, setNext] = useState<PageQuery | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isLoadingMore, setLoadingMore] = useState(false);
  const [attempt, setAttempt] = useState(0);
  const [pages, setPages] = useState(1);
  const shown = useRef(listKey);
  shown.current = listKey;

  useEffect(() => {
    const stop = new AbortController();
    const run = async (): Promise<void> => {
      const result = await load({}, stop.signal);
      if (stop.signal.aborted) return;
      if (!result.ok) {
        noteExpiry(result.problem);
        setProblem(result.problem);
        return;
      }
      setProblem(null);
      setItems(result.value);
      setNext(result.answer.next);
      setPages(1);
    };
    void run();
    return () => stop.abort();
  }, [listKey, attempt]);

  useEffect(() => setItems(null), [listKey]);

  const interval = typeof refreshMs === 'function' ? refreshMs(items ?? []) : refreshMs;
  useEffect(() => {
    if (interval === undefined || pages > 1) return undefined;
    const timer = setInterval(() => document.visibilityState === 'visible' && setAttempt((last) => last + 1), interval);
    return () => clearInterval(timer);
  }, [interval, pages]);

  async function loadMore(query: PageQuery): Promise<void> {
    setLoadingMore(true);
    const result = await load(query, new AbortController().signal);
    setLoadingMore(false);
    // The filter has changed in the meantime, so the page belongs to another list.
    if (shown.current !== listKey) return;
    if (!result.ok) {
      noteExpiry(result.problem);
      setProblem(result.problem);
      return;
    }
    setItems((last) => [...(last ?? []), ...result.value]);
    setNext(result.answer.next);
    setPages((last) => last + 1);
  }

  if (problem && items === null) {
    return <ProblemNotice problem={problem} onRetry={() => setAttempt((last) => last + 1)} />;
  }
  if (items === null) {
    return (
      <div class="card">
        <Skeleton lines={8} />
      </div>
    );
  }
  if (items.length === 0) return <div class="card">{empty}</div>;
  return (
    <div class="stack">
      {problem && <ProblemNotice problem={problem} />}
      <div class="card flush scroll">
        <table class="blocks">
          <caption class="visually-hidden">{caption}</caption>
          <thead>
            <tr>
              {columns.map(({ name, isNumber }) => (
                <th key={name} scope="col" class={isNumber ? 'number' : ''}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {items.map((item) => (
              <TableRow key={rowKey(item)} item={item} columns={columns} />
            ))}
          </tbody>
        </table>
      </div>
      {next && (
        <div class="row">
          <button type="button" disabled={isLoadingMore} onClick={() => void loadMore(next)}>
            {isLoadingMore ? 'Loading …' : 'Load more'}
          </button>
          <span class="small muted">{items.length} shown</span>
        </div>
      )}
    </div>
  );
}

function TableRow<T>({ item, columns: [first, ...rest] }: { readonly item: T; readonly columns: Props<T>['columns'] }) {
  return (
    <tr>
      <th scope="row">{first.cell(item)}</th>
      {rest.map(({ name, isNumber, cell }) => (
        <td key={name} data-label={name} class={isNumber ? 'number' : ''}>
          {cell(item)}
        </td>
      ))}
    </tr>
  );
}
