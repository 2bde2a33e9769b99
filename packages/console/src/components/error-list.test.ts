import { describe, expect, it } from 'vitest';
import { type Collected, collectErrors, maxDownloadedRows, nextQuery } from './error-list.ts';

describe('nextQuery', () => {
  it.each([
    [null, null],
    ['', null],
    ['</v1/marketplace/import/7/errors?limit=1000&cursor=a%2Bb>; rel="next"', 'limit=1000&cursor=a%2Bb'],
    ['</v1/marketplace/import/7/errors?limit=1000>; rel="prev"', null],
  ])('reads %j as %j', (link, query) => expect(nextQuery(link)).toBe(query));
});

describe('the download of rejected rows', () => {
  const job = { kind: 'import', id: 7 } as const;
  const next = '</v1/marketplace/import/7/errors?cursor=1>; rel="next"';
  const page = (rows: number, hasNext: boolean): Response =>
    new Response(`file,row\n${'a.csv,1\n'.repeat(rows)}`, { headers: hasNext ? { link: next } : {} });

  async function collect(responses: readonly (Response | null)[]): Promise<Collected & { waits: number[] }> {
    const waits: number[] = [];
    const left = [...responses];
    const collected = await collectErrors(
      job,
      { code: 'invalid_id' },
      {
        signal: new AbortController().signal,
        onRows: () => undefined,
        get: () => Promise.resolve(left.shift() ?? null),
        wait: (ms) => Promise.resolve(waits.push(ms)),
      },
    );
    return { ...collected, waits };
  }

  it('joins the pages under a single header', async () => {
    const { parts, rows, end } = await collect([page(2, true), page(1, false)]);
    expect([rows, end]).toEqual([3, 'complete']);
    expect(await new Blob([...parts]).text()).toBe('file,row\na.csv,1\na.csv,1\na.csv,1\n');
  });

  it('waits as long as the API requests, and then continues where it stopped', async () => {
    const limited = new Response('', { status: 429, headers: { 'retry-after': '7' } });
    const { rows, end, waits } = await collect([page(2, true), limited, null, page(1, false)]);
    expect([rows, end, waits]).toEqual([3, 'complete', [7_000, 4_000]]);
  });

  it('keeps the rows that it has if the API stops responding', async () => {
    expect(await collect([page(2, true)])).toMatchObject({ rows: 2, end: 'failed', waits: [2e3, 4e3, 8e3, 16e3] });
    expect(await collect([new Response('', { status: 404 })])).toMatchObject({ rows: 0, end: 'failed', waits: [] });
  });

  it('stops at the row limit', async () => {
    const full = Array.from({ length: 200 }, () => page(500, true));
    expect(await collect(full)).toMatchObject({ rows: maxDownloadedRows, end: 'limit' });
  });
});
