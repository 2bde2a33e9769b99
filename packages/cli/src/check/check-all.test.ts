import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { marketplaceRules as rules } from '../../../../test/support/check-rules.ts';
import type { Bytes } from '../terminal/progress-bar.ts';
import { checkAll } from './check-all.ts';

const row = '6d92078a-8246-4ba4-ae5b-000000000001,a\n';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'inlet-check-all-'));
});
afterEach(() => rm(folder, { recursive: true }));

describe('several files', () => {
  it('have one bar, which never goes back and ends where all is done', async () => {
    const contents = { 'a.csv': row.repeat(50_000), 'b.csv.gz': row.repeat(10), 'c.csv': row.repeat(20_000) };
    const files = Object.keys(contents).map((name) => ({ name, path: join(folder, name) }));
    for (const [name, text] of Object.entries(contents)) await writeFile(join(folder, name), text);
    const shown: Bytes[] = [];
    let ends = 0;
    const bar = { show: (bytes: Bytes) => void shown.push(bytes), end: () => void (ends += 1) };
    const checked = await checkAll([...files, { name: 'gone.csv', path: join(folder, 'gone.csv') }], rules, bar);
    // The second is not gzipped and is not read: its bytes are done and took no time. The last is not there.
    const codes = checked.map(({ fault }) => fault?.code ?? 'good');
    expect(codes).toEqual(['good', 'compression_mismatch', 'good', 'unreadable_file']);
    const total = row.length * 70_010;
    expect(new Set(shown.map((bytes) => bytes.total))).toEqual(new Set([total]));
    const done = shown.map((bytes) => bytes.done);
    expect(done).toEqual(done.toSorted((a, b) => a - b));
    expect(shown.at(-1)).toEqual({ what: '2 of 4 files', done: total, total, skipped: row.length * 10 });
    expect(ends).toBe(1);
  });
});
