import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { two } from '../corpus/lines.ts';
import { installPartnerCli, type PartnerCli } from '../support/partner-cli.ts';

// Runs `inlet check` as partners install it, from the packed package and without any server. corpus.test.ts covers its
// results.

describe('inlet check', () => {
  let cli: PartnerCli;

  beforeAll(async () => {
    cli = await installPartnerCli();
    mkdirSync(join(cli.folder, 'files'));
    const write = (name: string, content: string | Buffer): void => writeFileSync(join(cli.folder, name), content);
    write('files/good.csv', `id,keys\n${two(1)}\n${two(2, 'sport|golf')}\n`);
    write('files/packed.csv.gz', gzipSync(`${two(1)}\n`));
    write('bad.csv', `id,keys\n${two(1)}\nnot-an-id\x1b[31m,sport\n${two(2, 'sport|')}\n`);
    write('keys.txt', 'sport\n');
  });
  afterAll(() => cli.remove());

  it('exits 0 for valid files and reports how keys were checked', async () => {
    const { code, out, err } = await cli.run(['check', 'files']);
    expect(code).toBe(0);
    expect(err).toMatch(/^Only the format of the keys was checked, with default limits\. .*--attributes.*\n$/);
    expect(out).toContain('files/good.csv: valid\n  rows:    2 rows, 2 valid, 0 rejected, ');
    expect(out).toContain('  columns: id, keys; separated by commas; header on line 1\n');
    expect(out).toContain('files/packed.csv.gz: valid');
    expect(out).toContain('2 files, all valid\n');
  });

  it('exits 1 for rejected rows and lists reasons and rows', async () => {
    const { code, out } = await cli.run(['check', 'bad.csv']);
    expect(code).toBe(1);
    expect(out).toContain('bad.csv: has rejected rows\n  rows:    3 rows, 1 valid, 2 rejected, ');
    expect(out).toMatch(/^invalid_id +1 +3 +The advertising ID does not/m);
    expect(out).toMatch(/^ +3 +invalid_id +not-an-id\\x1b\[31m,sport$/m);
    expect(out).toMatch(/^ +4 +empty_keys /m);
  });

  it('rejects keys that are not in the key list', async () => {
    const { code, out, err } = await cli.run(['check', 'files/good.csv', '--keys', 'keys.txt', '--json']);
    expect(code).toBe(1);
    expect(err).toMatch(/^Default limits were used\. .*\n$/);
    expect(JSON.parse(out)).toMatchObject({
      ok: false,
      keys_checked: 'list',
      limits_checked: 'default',
      files: [{ path: 'files/good.csv', ok: false, bad_rows: 1, reasons: [{ code: 'unknown_key', first_row: 3 }] }],
    });
  });

  it('prints lines that fit the terminal width', async () => {
    const { code, shown } = await cli.onTerminal(['check', 'bad.csv']);
    expect(code).toBe(1);
    const lines = stripVTControlCharacters(shown).split(/\r?\n/);
    expect(lines.filter((line) => line.length > 100)).toEqual([]);
    expect(lines.join('\n')).toContain('First rejected rows:');
  });

  it.each([
    [['check'], 2, /missing required argument/],
    [['check', 'none.csv'], 2, /The file or folder none\.csv does not exist/],
    [['check', 'files', '--bad-rows', 'x'], 2, /number from 0 to 9999/],
    [['check', 'files', '--audience', '--keys', 'keys.txt'], 2, /no keys/],
    [['check', 'files', '--audience', '--attributes', '--key-type', 'foreign'], 2, /no keys/],
    [['check', 'files', '--attributes', '--key-type', 'foreign'], 3, /no_login/],
    [['check', 'files', '--audience', '--attributes'], 3, /no_login/],
  ])('reports an error for %s and exits %s', async (parameters, code, reason) => {
    const ran = await cli.run(parameters);
    expect(ran.code).toBe(code);
    expect(ran.err).toMatch(reason);
  });
});
