import { loadErrorListSchema } from '../../src/adapters/http/records/load-error.ts';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rows } from '../support/file-rows.ts';
import { device } from '../support/device-id.ts';
import { gzipBomb } from '../support/gzip-bomb.ts';
import { memoryOfProcess } from '../support/memory.ts';
import { parseCsv } from '../support/parse-csv.ts';
import { joinAudiences, type Audiences } from '../support/start-audiences.ts';
import { audiencePath } from './audience-client.ts';

describe('audience errors', () => {
  let market: Audiences;
  let id: number;
  let errorsPath: string;

  beforeAll(async () => {
    market = await joinAudiences();
    await market.partner.upload('some/a.csv', `${rows(0, 2)}nonsense,x\n${device(3)},a,b\n`);
    await market.partner.upload('some/b.csv', rows(0, 4));
    await market.partner.upload('some/c.csv', `${'bad,\n'.repeat(150)}${rows(0, 1)}`);
    await market.partner.upload('some/d.csv.gz', 'plain\n');
    id = (await market.audiences.create('Errors', 'some/')).audienceId;
    errorsPath = `${audiencePath}/${id}/errors`;
    await market.audiences.settled(id);
  });
  afterAll(() => market.stop());

  it('lists the file, row, column, code, and text of each rejected row, and why each file failed', async () => {
    const lines = await market.audiences.errors(id, '?limit=1000');
    const { prefix } = market.partner;
    const nothing = { row: null, column: null, text: null };
    expect(lines.slice(0, 4)).toEqual([
      expect.objectContaining({ file: `${prefix}some/a.csv`, code: 'bad_rows', ...nothing }),
      expect.objectContaining({
        file: `${prefix}some/a.csv`,
        code: 'invalid_id',
        row: 3,
        column: 'id',
        text: 'nonsense,x',
      }),
      expect.objectContaining({ file: `${prefix}some/a.csv`, code: 'wrong_column_count', row: 4, column: null }),
      expect.objectContaining({ file: `${prefix}some/c.csv`, code: 'bad_rows', ...nothing }),
    ]);
    expect(lines.filter(({ code, file }) => code === 'invalid_id' && file?.endsWith('c.csv'))).toHaveLength(100);
    expect(lines.at(-1)).toMatchObject({ file: `${prefix}some/d.csv.gz`, code: 'compression_mismatch', ...nothing });
    expect(lines.every(({ message }) => message.length > 10)).toBe(true);
  });

  it.each([7, 50])('returns each line once and in order with a page size of %s', async (limit) => {
    const whole = await market.audiences.errors(id, '?limit=1000');
    const answers = await market.api.follow(`${errorsPath}?limit=${limit}`);
    const pages = await Promise.all(answers.map(async (answer) => loadErrorListSchema.parse(await answer.json())));
    expect(pages.flat()).toEqual(whole);
    expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true);
    expect(await market.audiences.errors(id)).toEqual(whole.slice(0, 100));
  });

  it('counts the files and rows for each reason in the record', async () => {
    const { prefix } = market.partner;
    const { errors } = await market.audiences.get(id);
    const inFile = (name: string) => ({ file: `${prefix}some/${name}` });
    expect(errors).toEqual([
      expect.objectContaining({ code: 'bad_rows', count: 2, row: null, column: null, ...inFile('a.csv') }),
      expect.objectContaining({ code: 'compression_mismatch', count: 1, row: null, ...inFile('d.csv.gz') }),
      expect.objectContaining({ code: 'invalid_id', count: 151, row: 3, column: 'id', ...inFile('a.csv') }),
      expect.objectContaining({ code: 'wrong_column_count', count: 1, row: 4, ...inFile('a.csv') }),
    ]);
    const ofOneFile = await market.audiences.errors(id, '?code=compression_mismatch');
    expect(errors?.[1]?.message).toBe(ofOneFile[0]?.message);
  });

  it('omits dismissed files and corrected paths from the errors in a record', async () => {
    const { audiences, partner } = market;
    const { audienceId } = await audiences.create('Corrected', 'typo/');
    expect(await audiences.settled(audienceId)).toMatchObject({ errors: [{ code: 'no_files', row: null, count: 1 }] });
    await partner.upload('correct/a.csv', rows(0, 2));
    await partner.upload('correct/b.csv', `${rows(0, 1)}nonsense,x\n`);
    await audiences.append(audienceId, 'correct/');
    const { errors, file } = await audiences.settled(audienceId);
    expect(errors).toMatchObject([
      { code: 'bad_rows', count: 1 },
      { code: 'invalid_id', count: 1, row: 2 },
    ]);
    await audiences.dismiss(audienceId, file.find(({ error }) => error?.code === 'bad_rows')?.file_id ?? '');
    expect(await audiences.get(audienceId)).toMatchObject({ status: 2, errors: null });
  });

  it('lists only the errors with a given code or from a given file', async () => {
    const whole = await market.audiences.errors(id, '?limit=1000');
    const file = `${market.partner.prefix}some/a.csv`;
    const filtered = (query: Record<string, string>) =>
      market.audiences.errors(id, `?limit=1000&${new URLSearchParams(query).toString()}`);
    for (const code of new Set(whole.map((error) => error.code))) {
      expect(await filtered({ code })).toEqual(whole.filter((error) => error.code === code));
    }
    expect(await filtered({ file })).toEqual(whole.filter((error) => error.file === file));
    expect(await filtered({ file, code: 'invalid_id' })).toEqual([whole[1]]);
    expect(await filtered({ code: 'no_files' })).toEqual([]);
  });

  it('returns CSV if the Accept header requests it', async () => {
    const answer = await market.audiences.request(`${errorsPath}?limit=2`, { headers: { accept: 'text/csv' } });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
    expect(answer.headers.get('link')).toContain(`<${errorsPath}?limit=2&cursor=`);
    const file = `${market.partner.prefix}some/a.csv`;
    expect(parseCsv(await answer.text())).toEqual([
      ['file', 'row', 'column', 'code', 'message', 'text'],
      [file, '', '', 'bad_rows', expect.any(String), ''],
      [file, '3', 'id', 'invalid_id', expect.any(String), 'nonsense,x'],
    ]);
  });

  it('lists paths that match no files first, until the files exist', async () => {
    const { audienceId } = await market.audiences.create('Nothing', 'nowhere/');
    for (const missing of ['some/x.csv', 'some/d.csv.gz', 'later.csv'])
      await market.audiences.append(audienceId, missing);
    expect(await market.audiences.settled(audienceId)).toMatchObject({ status: 3 });
    const { prefix } = market.partner;
    const missing = (path: string): unknown =>
      expect.objectContaining({ file: prefix + path, row: null, column: null, code: 'no_files', text: null });
    const failed: unknown = expect.objectContaining({ file: `${prefix}some/d.csv.gz`, code: 'compression_mismatch' });
    const lines = await market.audiences.errors(audienceId);
    expect(await market.audiences.errors(audienceId, '?code=no_files')).toEqual(
      lines.filter(({ code }) => code === 'no_files'),
    );
    expect(await market.audiences.errors(audienceId, `?file=${prefix}later.csv`)).toEqual([missing('later.csv')]);
    expect(lines).toEqual([missing('nowhere/'), missing('some/x.csv'), missing('later.csv'), failed]);
    for (const limit of [1, 2, 3, 4]) {
      const answers = await market.api.follow(`${audiencePath}/${audienceId}/errors?limit=${limit}`);
      expect((await Promise.all(answers.map((answer) => answer.json()))).flat()).toEqual(lines);
    }
    await market.partner.upload('later.csv', rows(0, 1));
    await market.audiences.append(audienceId, 'later');
    await market.audiences.settled(audienceId);
    expect(await market.audiences.errors(audienceId)).toEqual([missing('nowhere/'), missing('some/x.csv'), failed]);
  });

  it('rejects invalid limits, invalid cursors, and an unknown audience', async () => {
    for (const query of ['limit=0', 'limit=1001', 'limit=x', 'cursor=x', 'cursor=1', 'cursor=1.2.3', 'other=1']) {
      expect(await market.audiences.expectProblem('GET', `${errorsPath}?${query}`)).toMatchObject({ status: 400 });
    }
    expect(await market.audiences.expectProblem('GET', `${audiencePath}/999999/errors`)).toMatchObject({ status: 404 });
  });

  it('lists only the rejected rows of loaded files if the partner is allowed a share of rejected rows', async () => {
    const set = (share: string): Promise<string> =>
      market.partner.operate('partner', 'set', market.partner.name, '--audience-bad-rows', share);
    await market.partner.upload('share/half.csv', `${rows(0, 2)}bad,\nworse,\n`);
    await market.partner.upload('share/more.csv', `${rows(5, 7)}bad,\nworse,\nworst,\n`);
    await market.partner.upload('share/none.csv', 'bad,\n');
    const load = async (): Promise<{ statuses: number[]; rows: number[]; codes: string[]; devices: number }> => {
      const { audienceId } = await market.audiences.create('Share', 'share/');
      const { file, unique_devices: devices } = await market.audiences.settled(audienceId);
      const codes = (await market.audiences.errors(audienceId)).map(({ code }) => code);
      return {
        statuses: file.map(({ status }) => status),
        rows: file.map((entry) => entry.rows_uploaded),
        codes,
        devices,
      };
    };
    const strict = await load();
    expect(strict).toMatchObject({ statuses: [3, 3, 3], rows: [0, 0, 0], devices: 0 });
    expect(strict.codes.filter((code) => code !== 'invalid_id')).toEqual(['bad_rows', 'bad_rows', 'no_good_row']);
    await set('0.5');
    const half = await load();
    expect(half).toMatchObject({ statuses: [2, 3, 3], rows: [2, 0, 0], devices: 2 });
    expect(half.codes).toEqual([
      'invalid_id',
      'invalid_id',
      'bad_rows',
      'invalid_id',
      'invalid_id',
      'invalid_id',
      'no_good_row',
      'invalid_id',
    ]);
    await set('1');
    expect(await load()).toMatchObject({ statuses: [2, 2, 3], rows: [2, 2, 0], devices: 4 });
    await set('0');
    expect((await load()).statuses).toEqual([3, 3, 3]);
  });

  it('returns no errors for a small gzip file that decompresses to 100 MB, regardless of its position among other files', async () => {
    // Lines are 64 bytes long, so that no gzip member ends in the middle of a line.
    const bomb = gzipBomb(`${device(1)},${'e'.repeat(26)}\n`, 100 * 1024 ** 2);
    expect(bomb.length).toBeLessThan(1024 ** 2);
    await market.partner.upload('bomb/a.csv.gz', bomb);
    await market.partner.upload('bomb/b.csv', rows(0, 5));
    await market.partner.upload('bomb/c.csv.gz', bomb);
    await market.partner.upload('bomb/d.csv.gz', gzipSync(rows(5, 9)));
    const start = performance.now();
    const { audienceId } = await market.audiences.create('Bomb', 'bomb/');
    const { file, status } = await market.audiences.settled(audienceId);
    const seconds = (performance.now() - start) / 1000;
    process.stdout.write(`audience-errors: loading the files that decompress to 100 MB took ${seconds.toFixed(1)} s\n`);
    expect(await market.audiences.errors(audienceId)).toEqual([]);
    const lines = (100 * 1024 ** 2) / 64;
    expect([status, file.map((entry) => [entry.s3_path.slice(-8), entry.status, entry.rows_uploaded])]).toEqual([
      2,
      [
        ['a.csv.gz', 2, lines],
        ['mb/b.csv', 2, 5],
        ['c.csv.gz', 2, lines],
        ['d.csv.gz', 2, 4],
      ],
    ]);
    expect(memoryOfProcess(market.service.worker.pid ?? 0).most).toBeLessThan(400 * 1024 ** 2);
  });
});
