import { audienceShapes } from '@inlet/row-rule/row-rule';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { marketplaceRules as rules } from '../../../../test/support/check-rules.ts';
import { fakeTerminal } from '../../../../test/support/fake-terminal.ts';
import { type CheckRules, type CheckedFile, checkFile } from './check-file.ts';
import { keysByForm, keysInFile } from './known-keys.ts';
import { checkedJson, checkedText } from './report.ts';

// test/acceptance/corpus.test.ts compares the results of this check with the results of the service.

const id = (n: number): string => `6d92078a-8246-4ba4-ae5b-${n.toString(16).padStart(12, '0')}`;
const audience: CheckRules = {
  ...rules,
  isAudience: true,
  shapes: audienceShapes,
  badRowShare: 0,
  unhyphenatedIds: false,
  expectGzip: () => null,
};

describe('checkFile', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'inlet-check-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const write = (name: string, content: string | Buffer): string => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };
  const check = (content: string | Buffer, name = 'a.csv', by = rules): Promise<CheckedFile> =>
    checkFile(write(name, content), by, () => {});
  const codeOf = async (...given: Parameters<typeof check>): Promise<string | undefined> =>
    (await check(...given)).fault?.code;

  it('counts rejected rows by reason and returns the first rejected rows', async () => {
    const checked = await check(`id,keys\n${id(1)},a\nx,a\n${id(0)},a|\ny\x1b[31m,a\nz,a\n`);
    expect(checked).toMatchObject({
      fault: null,
      layout: { columns: ['id', 'keys'], delimiter: ',', headerRow: 1 },
      rows: {
        good: 1,
        bad: 4,
        reasons: [
          { code: 'invalid_id', column: 'id', count: 3, first_row: 3 },
          { code: 'empty_keys', column: 'keys', count: 1, first_row: 4 },
        ],
        firstBad: [
          { row: 3, code: 'invalid_id', text: 'x,a' },
          { row: 4, code: 'empty_keys', text: `${id(0)},a|` },
        ],
      },
    });
    expect(checkedJson(checked)).toMatchObject({ ok: false, total_rows: 5, good_rows: 1, bad_rows: 4, failure: null });
  });

  it('escapes control characters and truncates long rows', async () => {
    const checked = await check(`${id(1)},a\ny\x1b[31m\u202e,a\n${'x'.repeat(150_000)}\r\n`);
    const shown = checkedText(checked, fakeTerminal(false).stream);
    expect(shown).toContain(String.raw`y\x1b[31m\u202e,a`);
    for (const unsafe of ['\x1b', '\u202e']) expect(shown).not.toContain(unsafe);
    expect(shown.length).toBeLessThan(1_200);
  });

  it.each([
    ['no content', '', 'a.csv', 'empty_file'],
    ['plain text and the name .gz', `${id(1)},a\n`, 'a.csv.gz', 'compression_mismatch'],
    ['gzip and the name .csv', gzipSync(`${id(1)},a\n`), 'a.csv', 'compression_mismatch'],
    ['truncated gzip', gzipSync(`${id(1)},a\n`).subarray(0, -3), 'a.csv.gz', 'corrupt_gzip'],
    [
      'bytes after the gzip data',
      Buffer.concat([gzipSync(`${id(1)},a\n`), Buffer.alloc(3_000_000)]),
      'a.csv.gz',
      'corrupt_gzip',
    ],
    ['other columns', 'a;b;c\n', 'a.csv', 'wrong_shape'],
    ['only rejected rows', 'x,a\n', 'a.csv', 'no_good_row'],
  ])('reports a fault for a file with %s', async (_what, content, name, code) => {
    expect(await codeOf(content, name)).toBe(code);
  });

  it('reports an unreadable file and suggests an option for a compression mismatch', async () => {
    const missing = await checkFile(join(folder, 'gone.csv'), rules, () => {});
    expect(missing.fault).toEqual({ code: 'unreadable_file', detail: 'Cannot read the file: not found (ENOENT).' });
    expect((await checkFile(folder, rules, () => {})).fault?.detail).toContain('is a folder (EISDIR)');
    expect(checkedText(missing, fakeTerminal(false).stream)).toMatch(/gone\.csv: not checked\n {2}unreadable_file: /);
    const mismatched = await check(`${id(1)},a\n`, 'a.csv.gz');
    expect(checkedText(mismatched, fakeTerminal(false).stream)).toContain('Pass --compressed or --no-compressed');
  });

  it("applies the partner's limits", async () => {
    const row = `${id(1)},a\n`;
    const limits = { maxLineBytes: 38, maxGzipFileBytes: 60, maxPlainFileBytes: 1_000 };
    expect(await codeOf(row.repeat(26), 'a.csv', { ...rules, limits })).toBe('file_too_large');
    expect(await codeOf(gzipSync(row.repeat(26)), 'a.csv.gz', { ...rules, limits })).toBe('unpacked_too_large');
    expect(await check(`${id(1)},a\n${id(1)},ab\n`, 'a.csv', { ...rules, limits })).toMatchObject({
      rows: { good: 1, reasons: [{ code: 'line_too_long' }] },
    });
  });

  it('accepts a gzipped audience file with any name and fails an audience file with a rejected row', async () => {
    expect(await check(gzipSync(`${id(1)},click\n${id(2)},\n`), 'a.csv', audience)).toMatchObject({
      fault: null,
      rows: { good: 2, bad: 0 },
    });
    expect(await check(`${id(1)},click\nx,\n`, 'a.csv', audience)).toMatchObject({
      fault: { code: 'bad_rows' },
      rows: { good: 1, bad: 1 },
    });
  });

  it('rejects a key list that does not exist', async () => {
    await expect(keysInFile(join(folder, 'none.txt'))).rejects.toMatchObject({ details: { exitCode: 2 } });
  });

  it('rejects keys that are not in the key list', async () => {
    const keys = await keysInFile(write('keys.txt', '\uFEFFsports\r\nköln\n\n'));
    const checked = await check(`${id(1)},sports|köln\n${id(2)},golf\n`, 'a.csv', { ...rules, keys });
    expect(checked.rows).toMatchObject({ good: 1, reasons: [{ code: 'unknown_key', first_row: 2 }] });
  });

  it.each([
    [0, '12', true],
    [0, '012', false],
    [0, 'sports', false],
    [1, 'sports', true],
    [1, '', false],
    [1, 'a\tb', false],
  ] as const)(
    'checks the format of a key without a key list (key type %s, key "%s", valid: %s)',
    (type, key, isOne) => {
      expect(keysByForm(type).has(key)).toBe(isOne);
    },
  );

  it('reports the number of bytes read as progress', async () => {
    const path = write('a.csv', `${id(1)},a\n`.repeat(50_000));
    let seen = 0;
    const { bytes } = await checkFile(path, rules, (more) => (seen += more));
    expect([seen, bytes]).toEqual([50_000 * 39, 50_000 * 39]);
  });
});
