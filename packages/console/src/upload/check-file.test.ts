import { defaultFileLimits } from '@inlet/row-rule/file-rule';
import { describe, expect, it } from 'vitest';
import { type CheckRules, checkFile } from './check-file.ts';

const marketplace: CheckRules = {
  isAudience: false,
  limits: defaultFileLimits,
  badRowShare: 1,
  unhyphenatedIds: false,
  keyType: 1,
  keys: null,
};
const audience: CheckRules = { ...marketplace, isAudience: true, badRowShare: 0 };

const idOf = (n: number): string => `6f1c2a9e-4b7d-4c1e-9a55-${n.toString(16).padStart(12, '0')}`;
const rowsOf = (count: number): string => Array.from({ length: count }, (_, n) => `${idOf(n + 1)},sports\n`).join('');

async function gzip(content: string): Promise<Uint8Array<ArrayBuffer>> {
  const packed = new Blob([content]).stream().pipeThrough(new CompressionStream('gzip'));
  return new Uint8Array(await new Response(packed).arrayBuffer());
}

async function check(content: string | Uint8Array<ArrayBuffer>, rules = marketplace) {
  return checkFile(new Blob([content]), rules, () => {});
}

describe('checkFile', () => {
  it('counts the rows of a file that spans several chunks', async () => {
    const seen: number[] = [];
    const content = new Blob([rowsOf(60_000)]);
    const { fault, rows } = await checkFile(content, marketplace, (bytes) => seen.push(bytes));
    expect(fault).toBe(null);
    expect(rows).toMatchObject({ good: 60_000, bad: 0 });
    expect(seen.length).toBeGreaterThan(1);
    expect(seen.at(-1)).toBe(content.size);
  });

  it('lists the reasons and the first rows', async () => {
    const { rows } = await check(`id,keys\n${rowsOf(2)}not-an-id,sports\n,sports\nnot-an-id,sports\n`);
    expect(rows.reasons.map(({ code, count, first_row }) => [code, count, first_row])).toEqual([
      ['invalid_id', 2, 4],
      ['empty_id', 1, 5],
    ]);
    expect(rows.firstBad.map(({ row, text }) => [row, text])).toEqual([
      [4, 'not-an-id,sports'],
      [5, ',sports'],
      [6, 'not-an-id,sports'],
    ]);
  });

  it('reads gzip', async () => {
    const { isGzip, fault, rows } = await check(await gzip(rowsOf(60_000)));
    expect({ isGzip, fault, good: rows.good }).toEqual({ isGzip: true, fault: null, good: 60_000 });
  });

  it('reads gzip files with several members', async () => {
    const members = await Promise.all([1, 1_000, 5, 60_000].map((count) => gzip(rowsOf(count))));
    const { fault, rows } = await checkFile(new Blob(members), marketplace, () => {});
    expect({ fault, good: rows.good }).toEqual({ fault: null, good: 61_006 });
  });

  it('detects truncated gzip data', async () => {
    const packed = await gzip(rowsOf(10_000));
    const { fault } = await check(packed.subarray(0, packed.length - 9));
    expect(fault).toMatchObject({ code: 'corrupt_gzip' });
  });

  it.each([
    ['an empty file', '', 'empty_file'],
    ['one column', 'just text\n', 'wrong_shape'],
    ['no valid row', 'a,b\nc,d\n', 'no_good_row'],
  ])('finds %s', async (_name, content, code) => {
    expect((await check(content)).fault).toMatchObject({ code });
  });

  it('fails an audience file with one rejected row', async () => {
    expect((await check(`${rowsOf(3)}x,click\n`, audience)).fault).toMatchObject({ code: 'bad_rows' });
  });

  it("checks the keys against the partner's keys", async () => {
    const content = `${idOf(1)},sports\n${idOf(2)},golf\n${idOf(3)},old\n`;
    const { rows } = await check(content, { ...marketplace, keys: { used: ['sports'], retired: ['old'] } });
    expect(rows.reasons.map(({ code }) => code)).toEqual(['retired_key', 'unknown_key']);
  });
});
