import { type ImportFileRecord, importFileListSchema } from '../../src/adapters/http/records/import-log.ts';
import { type LoadErrorRecord, loadErrorListSchema } from '../../src/adapters/http/records/load-error.ts';
import { problemSchema } from '../../src/adapters/http/records/problem.ts';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RejectReason, columnOfReason, rejectReasons } from '@inlet/row-rule/row-rule';
import { bytes, deviceId, five, goodRows, lines, two } from '../corpus/lines.ts';
import { parseCsv } from '../support/parse-csv.ts';
import { createPartner } from '../support/partners.ts';
import { type Marketplace, joinMarketplace } from '../support/start-marketplace.ts';
import { apiClient, readProblem } from './api-client.ts';

const everyReason = 'several/1-every-reason.csv';
const empty = 'several/2-empty.csv';
const many = 'several/3-many.csv';
const odd = 'several/4-odd, "quoted"\nname ü.csv';
const utf16 = 'several/5-utf-16.csv';
const good = 'several/6-good.csv';

const zeroId = '00000000-0000-0000-0000-000000000000';
const tooLong = `${deviceId(1)},1,DE,0,${'sport|'.repeat(20_000)}sport`;

/** The rejected rows of the first file in order, each with its reason, its line, and the text that is shown for it. */
const rejections: readonly [RejectReason, string | Buffer, string][] = [
  ['line_too_long', tooLong, tooLong.slice(0, 200)],
  ['invalid_utf8', bytes('ff fe 2c c3 28 2c ed a0 80'), String.raw`\xff\xfe,\xc3(,\xed\xa0\x80`],
  ['wrong_column_count', '@SUM(1),b', '@SUM(1),b'],
  ['empty_id', ',1,DE,0,sport', ',1,DE,0,sport'],
  ['zero_id', `${zeroId},1,DE,0,sport`, `${zeroId},1,DE,0,sport`],
  ['hashed_id', `${'ab'.repeat(16)},1,DE,0,sport`, `${'ab'.repeat(16)},1,DE,0,sport`],
  ['invalid_id', '\u0000\u0007\u001b[1m\u007f,1,DE,0,sport', String.raw`\x00\x07\x1b[1m\x7f,1,DE,0,sport`],
  ['invalid_id_type', five(1, { idType: '=1+1' }), five(1, { idType: '=1+1' })],
  ['invalid_country', five(1, { country: 'Zürich 🏔' }), five(1, { country: 'Zürich 🏔' })],
  ['invalid_operation', five(1, { operation: '\\x41' }), five(1, { operation: '\\\\x41' })],
  ['unknown_key', `"${deviceId(1)}","1","DE","0","a ""b"""`, `"${deviceId(1)}","1","DE","0","a ""b"""`],
  ['empty_keys', `${deviceId(1)},1,DE,0,sport|`, `${deviceId(1)},1,DE,0,sport|`],
  ['retired_key', `${deviceId(1)},1,DE,0,old`, `${deviceId(1)},1,DE,0,old`],
];

const rejected = (file: string, row: number, code: RejectReason, text: string): LoadErrorRecord => {
  const key = code === 'unknown_key' ? (text.includes('golf') ? 'golf' : 'a "b"') : null;
  const message = key === null ? rejectReasons[code] : `Unknown key "${key}". Check key_type if every row fails.`;
  return { file, row, column: columnOfReason(code), code, message, text };
};
const failed = (file: string | null, code: string, message: string): LoadErrorRecord => {
  return { file, row: null, column: null, code, message, text: null };
};

/** The limit of 200 bytes splits the last character, so that only its first byte is shown. */
const cutText = `${'x'.repeat(199)}é,sport`;

const expectedErrors: readonly LoadErrorRecord[] = [
  failed(null, 'file_failed', '3 of 6 files failed.'),
  ...rejections.map(([code, , text], index) => rejected(everyReason, index + 3, code, text)),
  failed(empty, 'empty_file', 'The file is empty (0 bytes).'),
  ...Array.from({ length: 100 }, (_, pair) => [
    rejected(many, 2 * pair + 1, 'invalid_id', 'x,sport'),
    rejected(many, 2 * pair + 2, 'unknown_key', two(1, 'golf')),
  ]).flat(),
  failed(odd, 'no_good_row', 'All 2 rows were rejected.'),
  rejected(odd, 1, 'invalid_id', `${'x'.repeat(199)}\\xc3`),
  rejected(odd, 2, 'invalid_id', String.raw`\u202e\ufeff\u0085\x09,sport`),
  failed(utf16, 'wrong_encoding', 'The file starts with a UTF-16 byte-order mark.'),
];

describe("an import's errors and files", () => {
  let market: Marketplace;
  let id: number;

  beforeAll(async () => {
    market = await joinMarketplace();
    await market.partner.createAttribute('sport', 'sport');
    const old = await market.partner.createAttribute('old', 'old');
    await market.partner.operate('attribute', 'retire', String(old), '--partner', market.partner.name);
    const pairs = Array.from({ length: 150 }, () => ['x,sport', two(1, 'golf')]).flat();
    const files: Readonly<Record<string, Buffer>> = {
      [everyReason]: lines('id,id_type,country,operation,keys', five(1), ...rejections.map(([, line]) => line)),
      [empty]: Buffer.alloc(0),
      [many]: lines(...pairs, two(1)),
      [odd]: lines(cutText, '\u202e\ufeff\u0085\t,sport'),
      [utf16]: Buffer.from(`\ufeff${two(1)}`, 'utf16le'),
      [good]: goodRows(3),
    };
    for (const [path, body] of Object.entries(files)) await market.partner.upload(path, body);
    id = await market.api.queue({ file_path: 'several/', key_type: 1, compressed: false });
    await market.api.waitForEnd(id);
  });
  afterAll(() => market.stop());

  const pathOf = (kind: 'errors' | 'files', query: string, of = id): string =>
    `/v1/marketplace/import/${of}/${kind}?${query}`;
  const pagesOf = async (kind: 'errors' | 'files', limit: number, of = id): Promise<unknown[]> =>
    Promise.all((await market.api.follow(pathOf(kind, `limit=${limit}`, of))).map((answer) => answer.json()));
  const errorPages = async (limit: number, of = id): Promise<LoadErrorRecord[][]> =>
    (await pagesOf('errors', limit, of)).map((page) => loadErrorListSchema.parse(page));
  const filePages = async (limit: number): Promise<ImportFileRecord[][]> =>
    (await pagesOf('files', limit)).map((page) => importFileListSchema.parse(page));

  it('reports the position, reason, and text of every rejected row, and why each file failed', async () => {
    expect(await errorPages(1000)).toEqual([expectedErrors]);
  });

  it('has a test row for every rejection reason', () => {
    const ofImports = Object.keys(rejectReasons).filter((reason) => reason !== 'event_too_long');
    expect(new Set(rejections.map(([code]) => code))).toEqual(new Set(ofImports));
  });

  it.each([1, 2, 3, 13, 100, expectedErrors.length - 1, expectedErrors.length, expectedErrors.length + 1])(
    'returns each error once, ordered by file and row, with a page size of %s',
    async (limit) => {
      const pages = await errorPages(limit);
      expect(pages.flat()).toEqual(expectedErrors);
      expect(pages.slice(0, -1).map(({ length }) => length)).toEqual(Array(pages.length - 1).fill(limit));
      expect(pages.at(-1)).not.toEqual([]);
    },
  );

  it('returns errors in pages of 100 by default', async () => {
    const answer = await market.api.request(`/v1/marketplace/import/${id}/errors`);
    expect(await answer.json()).toEqual(expectedErrors.slice(0, 100));
    expect(answer.headers.get('link')).toMatch(
      /^<\/v1\/marketplace\/import\/\d+\/errors\?limit=100&cursor=[\w-]+>; rel="next"$/,
    );
  });

  it.each(['text/csv', 'TEXT/CSV', 'text/csv; charset=utf-8', 'application/xml, text/csv;q=0.9'])(
    'returns errors as RFC 4180 lines for "Accept: %s"',
    async (accept) => {
      const answers = await market.api.follow(pathOf('errors', 'limit=60'), { headers: { accept } });
      const pages = await Promise.all(answers.map(async (answer) => parseCsv(await answer.text())));
      expect(answers.map(({ headers }) => headers.get('content-type'))).toEqual(
        answers.map(() => 'text/csv; charset=utf-8'),
      );
      for (const [header] of pages) expect(header).toEqual(['file', 'row', 'column', 'code', 'message', 'text']);
      const asText = expectedErrors.map(({ file, row, column, code, message, text }) =>
        [file, row, column, code, message, text].map((value) => String(value ?? '').replace(/^[=+@-]/, "'$&")),
      );
      expect(asText.flat()).toContain("'@SUM(1),b");
      expect(pages.flatMap((page) => page.slice(1))).toEqual(asText);
    },
  );

  it('names an unknown key that PostgreSQL cannot store', async () => {
    await market.partner.upload('nul.csv', `${two(1, 'sport')}\n${two(2, 'sport\0')}\n`);
    const importId = await market.api.queue({ file_path: 'nul.csv', key_type: 1 });
    const message = String.raw`Unknown key "sport\x00". Check key_type if every row fails.`;
    expect(await market.api.waitForEnd(importId)).toMatchObject({
      status: 2,
      errors: [{ code: 'unknown_key', message }],
    });
    expect((await errorPages(10, importId)).flat()).toMatchObject([{ code: 'unknown_key', message }]);
  });

  it('returns all errors as CSV if the request has no limit', async () => {
    const answer = await market.api.request(`/v1/marketplace/import/${id}/errors`, { headers: { accept: 'text/csv' } });
    expect(answer.headers.get('link')).toBeNull();
    expect(parseCsv(await answer.text()).slice(1)).toHaveLength(expectedErrors.length);
  });

  it('lists only the errors with a given code or from a given file, on pages of any size', async () => {
    const codes = [...new Set(expectedErrors.map(({ code }) => code))];
    const paths = [...new Set(expectedErrors.flatMap(({ file }) => file ?? []))];
    const filters: readonly { readonly code?: string; readonly file?: string }[] = [
      ...codes.map((code) => ({ code })),
      ...paths.map((file) => ({ file })),
      { code: 'invalid_id', file: many },
      { code: 'empty_file', file: many },
      { file: 'several' },
    ];
    for (const filter of filters) {
      const expected = expectedErrors.filter(
        (error) => (filter.code ?? error.code) === error.code && (filter.file ?? error.file) === error.file,
      );
      const query = new URLSearchParams(filter).toString();
      for (const limit of [7, 1000]) {
        const answers = await market.api.follow(pathOf('errors', `limit=${limit}&${query}`));
        const pages = await Promise.all(answers.map(async (answer) => loadErrorListSchema.parse(await answer.json())));
        expect(pages.flat(), query).toEqual(expected);
      }
    }
  });

  it('lists every file with its result, in the byte order of the keys', async () => {
    const [files = []] = await filePages(1000);
    const summary = files.map(
      ({ bytes: _size, bytes_read: _read, last_modified: _modified, updated_at: _time, ...file }) => file,
    );
    const failedBy = (code: string) => {
      const message = expectedErrors.find((error) => error.code === code)?.message;
      return { status: 3, suppressed: 0, error: { code, message } };
    };
    const loaded = { status: 2, suppressed: 0, error: null };
    expect(summary).toEqual([
      { file: everyReason, ...loaded, total_rows: 14, rejected_rows: 13 },
      { file: empty, ...failedBy('empty_file'), total_rows: 0, rejected_rows: 0 },
      { file: many, ...loaded, total_rows: 301, rejected_rows: 300 },
      { file: odd, ...failedBy('no_good_row'), total_rows: 2, rejected_rows: 2 },
      { file: utf16, ...failedBy('wrong_encoding'), total_rows: 0, rejected_rows: 0 },
      { file: good, ...loaded, total_rows: 3, rejected_rows: 0 },
    ]);
    expect(files.map(({ bytes: size }) => size)).toEqual(files.map(({ bytes_read }) => bytes_read));
    expect(files.at(-1)?.bytes).toBe(goodRows(3).length);
    expect(files[1]?.bytes).toBe(0);
    for (const { updated_at, last_modified } of files) {
      expect(Date.now() - Date.parse(updated_at)).toBeLessThan(600_000);
      expect(Math.abs(Date.parse(updated_at) - Date.parse(last_modified ?? ''))).toBeLessThan(600_000);
    }
  });

  it.each([1, 2, 5, 6, 7])('lists each file once with a page size of %s', async (limit) => {
    const pages = await filePages(limit);
    expect(pages.flat()).toEqual((await filePages(1000)).flat());
    expect(pages.slice(0, -1).map(({ length }) => length)).toEqual(Array(pages.length - 1).fill(limit));
  });

  it('reports why a job without files failed', async () => {
    const missing = await market.api.queue({ file_path: 'nowhere.csv', key_type: 1 });
    await market.api.waitForEnd(missing);
    const why = 'No object has the path "nowhere.csv" or begins with it.';
    expect(await errorPages(1000, missing)).toEqual([[failed(null, 'no_files', why)]]);
  });

  it('returns all errors of a job whose failed files exceed one batch', async () => {
    const names = Array.from({ length: 250 }, (_, n) => `crowd/${String(n).padStart(3, '0')}.csv`);
    await Promise.all(
      names.map((name, n) => market.partner.upload(name, n % 83 === 82 ? lines('x,sport') : Buffer.alloc(0))),
    );
    const crowd = await market.api.queue({ file_path: 'crowd/', key_type: 1, compressed: false });
    await market.api.waitForEnd(crowd);
    const expected = names.flatMap((file, n) =>
      n % 83 === 82 ? [`${file} no_good_row`, `${file} invalid_id`] : [`${file} empty_file`],
    );
    for (const limit of [1000, 199, 200, 201, 7]) {
      const found = (await errorPages(limit, crowd)).flat().filter(({ file }) => file !== null);
      expect(found.map(({ file, code }) => `${file} ${code}`)).toEqual(expected);
    }
  });

  it('reports only the failure of a file that cannot be read completely and none of its rows', async () => {
    const rows = Array.from({ length: 1_000_000 }, (_, n) => (n % 1_000 === 0 ? 'x,sport\n' : `${two(n)}\n`));
    const whole = gzipSync(rows.join(''), { level: 1 });
    await market.partner.upload('cut.csv.gz', whole.subarray(0, -1_000));
    const cut = await market.api.queue({ file_path: 'cut.csv.gz', key_type: 1 });
    const log = await market.api.waitForEnd(cut);
    expect(log).toMatchObject({ status: 3, total_rows: '0', unique_devices: '0' });
    const found = (await errorPages(1000, cut)).flat().map(({ file, row, code }) => ({ file, row, code }));
    expect(found).toEqual([{ file: 'cut.csv.gz', row: null, code: 'corrupt_gzip' }]);
  });

  it.each(['errors', 'files'] as const)(
    'returns 400 for invalid limits, cursors, and parameters of the %s list',
    async (kind) => {
      const wrong = [
        'limit=0',
        'limit=1001',
        'limit=-1',
        'limit=1.5',
        'limit=x',
        'limit=',
        'limit=1&limit=2',
        'page=2',
      ];
      const cursors = [
        '',
        'x',
        '-1',
        '1e3',
        '0x10',
        '%201',
        '1.2.3',
        '.',
        '1.',
        '.1',
        '-1.0',
        '1.-1',
        '1e3.0',
        '1'.repeat(65),
      ];
      const ofOtherKind = kind === 'errors' ? '1' : '1.2';
      for (const query of [...wrong, ...[...cursors, ofOtherKind].map((cursor) => `cursor=${cursor}`)]) {
        const answer = await market.api.request(pathOf(kind, query));
        expect(answer.status, query).toBe(400);
        const problem = problemSchema.strict().parse(await readProblem(answer));
        expect(problem.code, query).toBe('invalid_request');
        const pointer = `/${query.split('=')[0]}`;
        expect(
          problem.errors?.map((error) => error.pointer),
          query,
        ).toEqual([pointer]);
      }
    },
  );

  it.each(['errors', 'files'] as const)(
    "returns 404 for the %s list of another partner's import and of an unknown import",
    async (kind) => {
      const other = await createPartner(market.stores.environment);
      const stranger = apiClient(market.service.url, other.apiKey);
      for (const [api, of] of [
        [stranger, String(id)],
        [market.api, '999999999'],
        [market.api, 'abc'],
        [market.api, '0'],
      ] as const) {
        const answer = await api.request(`/v1/marketplace/import/${of}/${kind}`);
        expect(answer.status).toBe(404);
        expect(problemSchema.strict().parse(await readProblem(answer)).code).toBe('not_found');
      }
    },
  );
});
