import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rows } from '../support/file-rows.ts';
import { device } from '../support/device-id.ts';
import { joinAudiences, type Audiences } from '../support/start-audiences.ts';
import type { AudienceDetails } from './audience-client.ts';

// Loads each file alone and with many small files under a prefix, because the two cases use different code.

type FileResult = { readonly status: number; readonly rows: number; readonly codes: readonly string[] };
type LayoutFile = readonly [name: string, path: string, body: string | Buffer, expected: FileResult];

const good = device(1);
const mark = '\uFEFF';
const loads = (count: number): FileResult => ({ status: 2, rows: count, codes: [] });
/** The file's failure, followed by the rejected rows as `code row column`. */
const fails = (...codes: string[]): FileResult => ({ status: 3, rows: 0, codes });
/** Returns a valid row, followed by the given line. */
const afterValidRow = (line: string | Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${good},\n`), Buffer.from(line), Buffer.from('\n')]);

const files: readonly LayoutFile[] = [
  ['CSV', 'plain.csv', rows(0, 3), loads(3)],
  ['TSV', 'tabs.tsv', `${good}\tclick\n${device(2)}\t\n`, loads(2)],
  ['TSV with commas in the events', 'tabs-commas.tsv', `${good}\ta,b\n${device(2)}\tc,d,e\n`, loads(2)],
  ['a header', 'header.csv', `id,event\n${rows(0, 2)}`, loads(2)],
  ['a header with other names and uppercase letters', 'header-idfa.csv', `IDFA,What happened\n${rows(0, 2)}`, loads(2)],
  [
    'a header with tabs, quotes, byte-order mark and CRLF',
    'header.tsv',
    `${mark}"maid"\t"event"\r\n${good}\tx\r\n`,
    loads(1),
  ],
  ['a header with unknown names', 'names.csv', `device,event\n${rows(0, 2)}`, loads(2)],
  [
    'a header with unknown names above an invalid row',
    'no-header.csv',
    `device,event\nnonsense,\n${rows(0, 2)}`,
    fails('bad_rows', 'invalid_id 1 id', 'invalid_id 2 id'),
  ],
  [
    'a header with three columns',
    'header-3.csv',
    `id,event,x\n${rows(0, 2)}`,
    fails('bad_rows', 'wrong_column_count 1 null'),
  ],
  ['spaces around fields', 'spaces.csv', ` ${good} , click \n "${device(2)}" , "a b" \n`, loads(2)],
  ['only a header', 'only-header.csv', 'id,event\n', fails('empty_file')],
  ['no bytes', 'no-bytes.csv', '', fails('empty_file')],
  ['blank lines', 'blank.csv', '\n\r\n\n', fails('empty_file')],
  ['one column', 'one.csv', `${good}\n${device(2)}\n`, fails('wrong_shape')],
  ['three columns', 'three.csv', `${good},click,x\n`, fails('wrong_shape')],
  ['the five columns of imports', 'five.csv', `${good},1,DE,0,sport\n`, fails('wrong_shape')],
  [
    'three columns in one row',
    'row-3.csv',
    afterValidRow(`${good},a,b`),
    fails('bad_rows', 'wrong_column_count 2 null'),
  ],
  ['one column in one row', 'row-1.csv', afterValidRow(good), fails('bad_rows', 'wrong_column_count 2 null')],
  ['empty events', 'empty-events.csv', `${good},\n${device(2)},""\n`, loads(2)],
  ['an event of 256 characters', 'event-256.csv', `${good},${'x'.repeat(256)}\n`, loads(1)],
  ['an event of 256 emoji', 'emoji-256.csv', `${good},${'🙂'.repeat(256)}\n`, loads(1)],
  [
    'an event of 257 characters',
    'event-257.csv',
    afterValidRow(`${good},${'x'.repeat(257)}`),
    fails('bad_rows', 'event_too_long 2 event'),
  ],
  [
    'an event of 257 emoji',
    'emoji-257.csv',
    afterValidRow(`${good},${'🙂'.repeat(257)}`),
    fails('bad_rows', 'event_too_long 2 event'),
  ],
  [
    'only overlong events',
    'all-257.csv',
    `${good},${'x'.repeat(257)}\n`,
    fails('no_good_row', 'event_too_long 1 event'),
  ],
  ['quotes, commas and doubled quotes', 'quotes.csv', `"${good}","a ""b"", c"\n${device(2)},"d,e"\n`, loads(2)],
  ['an unclosed quote', 'open.csv', afterValidRow(`${good},"a`), fails('bad_rows', 'wrong_column_count 2 null')],
  ['CRLF', 'crlf.csv', `${good},a\r\n${device(2)},b\r\n`, loads(2)],
  ['a byte-order mark', 'mark.csv', mark + rows(0, 2), loads(2)],
  ['blank lines between rows', 'between.csv', `\n\n${good},\n\r\n${device(2)},\n\n`, loads(2)],
  ['no newline after the last line', 'no-newline.csv', `${good},a\n${device(2)},b`, loads(2)],
  ['one line without a newline', 'one-line.csv', `${good},`, loads(1)],
  ['uppercase IDs', 'upper.csv', `${device(0xabc).toUpperCase()},\n`, loads(1)],
  [
    'an ID of zeros',
    'zero.csv',
    afterValidRow('00000000-0000-0000-0000-000000000000,'),
    { ...loads(1), codes: ['zero_id 2 id'] },
  ],
  [
    'only IDs of zeros',
    'zeros.csv',
    '00000000-0000-0000-0000-000000000000,\n',
    { ...loads(0), codes: ['zero_id 1 id'] },
  ],
  ['a hashed ID', 'hashed.csv', afterValidRow(`${'a1'.repeat(20)},`), fails('bad_rows', 'hashed_id 2 id')],
  ['an empty ID', 'empty-id.csv', afterValidRow(',click'), fails('bad_rows', 'empty_id 2 id')],
  ['an invalid ID', 'invalid.csv', afterValidRow(`${good}0,`), fails('bad_rows', 'invalid_id 2 id')],
  [
    'invalid UTF-8',
    'latin-1.csv',
    afterValidRow(Buffer.from(`${good},caf\xe9`, 'latin1')),
    fails('bad_rows', 'invalid_utf8 2 null'),
  ],
  ['UTF-16', 'utf-16.csv', Buffer.from(mark + rows(0, 2), 'utf16le'), fails('wrong_encoding')],
  [
    'a line of 102,401 bytes',
    'long.csv',
    afterValidRow(`${good},${'x'.repeat(102_401 - 37)}`),
    fails('bad_rows', 'line_too_long 2 null'),
  ],
  ['gzip by extension', 'packed.csv.gz', gzipSync(rows(0, 3)), loads(3)],
  ['gzip by uppercase extension', 'PACKED.GZ', gzipSync(rows(0, 3)), loads(3)],
  ['gzip by its first bytes', 'packed.csv', gzipSync(rows(0, 3)), loads(3)],
  ['gzip by its first bytes, without any extension', 'packed', gzipSync(rows(0, 3)), loads(3)],
  ['plain text named .gz', 'plain.csv.gz', rows(0, 3), fails('compression_mismatch')],
  ['gzip of an empty file', 'nothing.csv.gz', gzipSync(''), fails('empty_file')],
  ['truncated gzip', 'cut.csv.gz', gzipSync(rows(0, 99)).subarray(0, -9), fails('corrupt_gzip')],
  [
    'gzip followed by zeros',
    'padded.csv.gz',
    Buffer.concat([gzipSync(rows(0, 9)), Buffer.alloc(9)]),
    fails('corrupt_gzip'),
  ],
];

describe('audience files', () => {
  let market: Audiences;
  let alone: Map<string, FileResult>;
  let together: Map<string, FileResult>;
  let details: AudienceDetails;

  const resultsOf = async (audienceId: number): Promise<Map<string, FileResult>> => {
    const { file } = await market.audiences.settled(audienceId);
    const errors = await market.audiences.errors(audienceId, '?limit=1000');
    return new Map(
      file.map(({ s3_path, status, rows_uploaded }): [string, FileResult] => {
        const codes = errors
          .filter((error) => error.file === s3_path)
          .map(({ code, row, column }) => (row === null ? code : `${code} ${row} ${column}`));
        return [s3_path.slice(`${market.partner.prefix}layout/`.length), { status, rows: rows_uploaded, codes }];
      }),
    );
  };

  beforeAll(async () => {
    market = await joinAudiences();
    await Promise.all(files.map(([, path, body]) => market.partner.upload(`layout/${path}`, body)));
    const one = await market.audiences.create('alone', `layout/${files[0]?.[1]}`);
    for (const [, path] of files.slice(1)) await market.audiences.append(one.audienceId, `layout/${path}`);
    const all = await market.audiences.create('together', 'layout/');
    alone = await resultsOf(one.audienceId);
    together = await resultsOf(all.audienceId);
    details = await market.audiences.get(all.audienceId);
  });
  afterAll(() => market.stop());

  it.each(files)(
    'an audience file has the expected result both alone and under a prefix: %s (%s)',
    (_name, path, _body, expected) => {
      expect({ alone: alone.get(path), together: together.get(path) }).toEqual({ alone: expected, together: expected });
    },
  );

  it('an audience file is loaded completely or not at all under a prefix, and only loaded files count', () => {
    const loaded = files.flatMap(([, , , { status, rows: count }]) => (status === 2 ? [count] : []));
    expect(details.status).toBe(3);
    expect(details.file).toHaveLength(files.length);
    expect(details.uploaded_devices).toBe(loaded.reduce((sum, count) => sum + count, 0));
    expect(details.unique_devices).toBe(4);
  });
});
