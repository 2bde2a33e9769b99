import type { Answered, LoadError } from '@inlet/sdk/browser';
import { api, csrfToken } from '../api.ts';

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

/** Downloads all pages as one CSV file. The SDK reads JSON only. */
export async function downloadErrors(
  job: JobOfErrors,
  filters: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<boolean> {
  const pages: Blob[] = [];
  let query: string | null = new URLSearchParams({ ...filters, limit: '500' }).toString();
  while (query !== null) {
    const response: Response | null = await fetch(`${pathOf(job)}?${query}`, {
      headers: { accept: 'text/csv', 'x-csrf-token': csrfToken.value },
      signal,
    }).catch(() => null);
    if (!response?.ok) return false;
    const page = await response.blob();
    pages.push(pages.length === 0 ? page : withoutHeader(page, await page.text()));
    query = nextQuery(response.headers.get('link'));
  }
  save(new Blob(pages, { type: 'text/csv;charset=utf-8' }), `${job.kind}-${job.id}-errors.csv`);
  return true;
}

/** The header has no quotes, so it ends at the first line break. */
function withoutHeader(page: Blob, text: string): Blob {
  return page.slice(text.indexOf('\n') + 1);
}

/** Returns the query of the next page (RFC 8288). */
export function nextQuery(link: string | null): string | null {
  return /<[^>?]*\?([^>]*)>\s*;\s*rel="next"/.exec(link ?? '')?.[1] ?? null;
}

function save(content: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  // The download starts after this task.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
