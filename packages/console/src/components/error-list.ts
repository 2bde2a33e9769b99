import type { Answered, LoadError } from '@inlet/sdk/browser';
import { api, csrfToken } from '../api.ts';
import { saveFile } from './save-file.ts';

/** The job whose rejected rows and failed files are listed. */
export type JobOfErrors = { readonly kind: 'import' | 'audience'; readonly id: number };

type Query = Readonly<Record<string, string | number>>;

export function listErrors(
  { kind, id }: JobOfErrors,
  query: Query,
  signal: AbortSignal,
): Promise<Answered<readonly LoadError[]>> {
  return kind === 'import'
    ? api.listImportErrors(id, { query, signal })
    : api.listAudienceErrors(id, { query, signal });
}

export function pageOfJob({ kind, id }: JobOfErrors): string {
  return `/console/${kind}s/${id}`;
}

function pathOf({ kind, id }: JobOfErrors): string {
  return kind === 'import' ? `/v1/marketplace/import/${id}/errors` : `/v2/firstparty/audience/${id}/errors`;
}

/** Larger lists take minutes and hundreds of requests. A worker exports complete lists. */
export const maxDownloadedRows = 50_000;

const rowsPerPage = 500;
const maxAttempts = 5;
const longestWaitMs = 60_000;

/** How the download ended: with all rows, with the first ones, or early, because the API stopped responding. */
type DownloadEnd = 'complete' | 'limit' | 'failed' | 'aborted';

export type Collected = { readonly parts: readonly Blob[]; readonly rows: number; readonly end: DownloadEnd };

type Options = {
  readonly signal: AbortSignal;
  readonly onRows: (rows: number) => void;
  /** Returns null if no response arrives. */
  readonly get: (url: string) => Promise<Response | null>;
  readonly wait: (ms: number) => Promise<unknown>;
};

/** Downloads the pages one after another. The rows are kept outside the script's memory. */
export async function collectErrors(
  job: JobOfErrors,
  filters: Readonly<Record<string, string>>,
  { signal, onRows, get, wait }: Options,
): Promise<Collected> {
  const parts: Blob[] = [];
  let rows = 0;
  let query: string | null = new URLSearchParams({ ...filters, limit: String(rowsPerPage) }).toString();
  for (let attempt = 1; query !== null;) {
    if (rows >= maxDownloadedRows) return { parts, rows, end: 'limit' };
    const response: Response | null = await get(`${pathOf(job)}?${query}`);
    if (signal.aborted) return { parts, rows, end: 'aborted' };
    if (!response?.ok) {
      const mayPass = !response || response.status === 429 || response.status >= 500;
      if (!mayPass || attempt === maxAttempts) return { parts, rows, end: 'failed' };
      await wait(retryAfterMs(response?.headers.get('retry-after') ?? null, attempt));
      attempt += 1;
      continue;
    }
    attempt = 1;
    const text = await response.text();
    const body = withoutHeader(text);
    rows += body.split('\n').filter((line) => line !== '').length;
    parts.push(new Blob([parts.length === 0 ? text : body]));
    onRows(rows);
    query = nextQuery(response.headers.get('link'));
  }
  return { parts, rows, end: 'complete' };
}

function retryAfterMs(header: string | null, attempt: number): number {
  const seconds = /^\d+$/.test(header ?? '') ? Number(header) : 2 ** attempt;
  return Math.min(longestWaitMs, seconds * 1000);
}

export type Downloaded = Pick<Collected, 'rows' | 'end'>;

/** Downloads the rows as one CSV file. The SDK reads only JSON. */
export async function downloadErrors(
  job: JobOfErrors,
  filters: Readonly<Record<string, string>>,
  signal: AbortSignal,
  onRows: (rows: number) => void,
): Promise<Downloaded> {
  const { parts, rows, end } = await collectErrors(job, filters, {
    signal,
    onRows,
    get: (url) =>
      fetch(url, { headers: { accept: 'text/csv', 'x-csrf-token': csrfToken.value }, signal }).catch(() => null),
    wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  });
  if (end !== 'aborted' && parts.length > 0)
    saveFile(new Blob([...parts], { type: 'text/csv;charset=utf-8' }), `${job.kind}-${job.id}-errors.csv`);
  return { rows, end };
}

/** The header has no quotes, so it ends at the first line break. */
function withoutHeader(text: string): string {
  return text.slice(text.indexOf('\n') + 1);
}

/** Returns the query of the next page (RFC 8288). */
export function nextQuery(link: string | null): string | null {
  return /<[^>?]*\?([^>]*)>\s*;\s*rel="next"/.exec(link ?? '')?.[1] ?? null;
}
