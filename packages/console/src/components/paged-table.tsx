import type { Answered, Problem } from '@inlet/sdk/browser';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { csrfToken, noteExpiry } from '../api.ts';
import { formatCount } from '../format.ts';
import { repeat } from '../repeat.ts';
import { ProblemNotice, Skeleton } from './state.tsx';

type PageQuery = Readonly<Record<string, string>>;

export type Column<T> = {
  readonly name: string;
  readonly isNumber?: boolean;
  readonly cell: (item: T) => ComponentChildren;
};

type Props<T> = {
  /** Identifies the list. It changes, for example, with a filter. */
  readonly listKey: string;
  readonly caption: string;
  /** Loads one page. `query` contains the cursor, and is empty for the first page. */
  readonly load: (query: PageQuery, signal: AbortSignal) => Promise<Answered<readonly T[]>>;
  readonly rowKey: (item: T) => string | number;
  /** The first column identifies the row. */
  readonly columns: readonly [Column<T>, ...Column<T>[]];
  readonly empty: ComponentChildren;
  /** Reloads the list when it changes. Unlike with a new `listKey`, the old rows stay until the new ones arrive. */
  readonly version?: string | number;
  /**
   * The delay after each response before the list is reloaded, while the page is visible. If a function returns
   * undefined, nothing is in progress, and the list is refreshed slowly. Lists with more than one loaded page are not
   * refreshed, because each page would take a request.
   */
  readonly refreshMs?: number | ((items: readonly T[]) => number | undefined);
};

/** How often a list is refreshed while nothing is in progress. */
const slowRefreshMs = 30_000;

/** A table that loads one page at a time. Only the loaded pages are in memory. */
export function PagedTable<T>({ listKey, caption, load, rowKey, columns, empty, version, refreshMs }: Props<T>) {
  const initial: Shown<T> = { listKey, items: null, next: null, pages: 1 };
  const [state, setState] = useState(initial);
  const [failed, setFailed] = useState<Failed | null>(null);
  const [isLoadingMore, setLoadingMore] = useState(false);
  const [attempt, setAttempt] = useState(0);
  const { items, next, pages } = state.listKey === listKey ? state : initial;
  const problem = failed?.listKey === listKey ? failed.problem : null;
  const shown = useRef({ listKey, pages });
  shown.current = { listKey, pages };
  const fixedMs = typeof refreshMs === 'number' ? refreshMs : undefined;

  useEffect(() => {
    let isFirst = true;
    return repeat(async (stopped) => {
      const wanted = shown.current.pages;
      if (wanted > 1 && !isFirst) return undefined;
      isFirst = false;
      const { result, pages: found } = await loadPages(load, wanted, stopped);
      if (stopped.aborted || shown.current.pages > wanted) return undefined;
      if (!result.ok) {
        noteExpiry(result.problem);
        setFailed({ listKey, problem: result.problem });
        return typeof refreshMs === 'function' ? slowRefreshMs : refreshMs;
      }
      setFailed(null);
      setState({ listKey, items: result.value, next: result.answer.next, pages: found });
      return typeof refreshMs === 'function' ? (refreshMs(result.value) ?? slowRefreshMs) : refreshMs;
    });
    // `load` and a function `refreshMs` are new on every render. The API rejects calls with an earlier token.
  }, [listKey, version, attempt, fixedMs, csrfToken.value]);

  async function loadMore(query: PageQuery): Promise<void> {
    setLoadingMore(true);
    const result = await load(query, new AbortController().signal);
    setLoadingMore(false);
    // The filter changed in the meantime, so this page belongs to another list.
    if (shown.current.listKey !== listKey) return;
    if (!result.ok) {
      noteExpiry(result.problem);
      setFailed({ listKey, problem: result.problem });
      return;
    }
    setFailed(null);
    // A refresh may have replaced the first page, and the new page follows the one that was shown.
    setState({
      listKey,
      items: [...(items ?? []), ...result.value],
      next: result.answer.next,
      pages: pages + 1,
    });
  }

  const reload = (): void => setAttempt((last) => last + 1);
  if (problem && items === null) {
    return <ProblemNotice problem={problem} onRetry={reload} />;
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
      {problem && <ProblemNotice problem={problem} onRetry={reload} />}
      <div class="card flush">
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
      {(next || pages > 1) && (
        <div class="row">
          {next && (
            <button type="button" disabled={isLoadingMore} onClick={() => void loadMore(next)}>
              {isLoadingMore ? 'Loading …' : 'Load more'}
            </button>
          )}
          <output class="small muted">{formatCount(items.length)} shown</output>
          {pages > 1 && refreshMs !== undefined && (
            <>
              <span class="small muted">· Updates paused</span>
              <button type="button" onClick={reload}>
                Refresh
              </button>
            </>
          )}
        </div>
      )}
    </div>
  );
}

type Failed = { readonly listKey: string; readonly problem: Problem };

type Shown<T> = {
  readonly listKey: string;
  /** Null until the first page is loaded. */
  readonly items: readonly T[] | null;
  readonly next: PageQuery | null;
  /** How many pages `items` contains. */
  readonly pages: number;
};

type LoadedPages<T> = { readonly result: Answered<readonly T[]>; readonly pages: number };

/** Loads the first pages of a list, or all pages if there are now fewer. */
async function loadPages<T>(load: Props<T>['load'], count: number, signal: AbortSignal): Promise<LoadedPages<T>> {
  let result = await load({}, signal);
  let pages = 1;
  for (; pages < count && result.ok && result.answer.next; pages += 1) {
    const { value } = result;
    const more = await load(result.answer.next, signal);
    result = more.ok ? { ...more, value: [...value, ...more.value] } : more;
  }
  return { result, pages };
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
