import { importFileListSchema } from '@inlet/contract/import-log';
import { loadErrorListSchema, type LoadErrorRecord } from '@inlet/contract/load-error';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startMarketplace, type Marketplace } from '../support/start-marketplace.ts';
import { device } from '../support/device-id.ts';

describe('the errors and files of an import', () => {
  let market: Marketplace;
  let id: number;

  beforeAll(async () => {
    market = await startMarketplace('import-errors');
    await market.partner.createAttribute('sport', 'sport');
    const long = `${'x'.repeat(190)}\u0007\\${'y'.repeat(50)},sport`;
    await market.partner.upload(
      'many/a.csv',
      Buffer.concat([
        Buffer.from(`${device(1)},sport\nnonsense,sport\n${device(2)},golf\n\n${long}\n`),
        Buffer.from([0xff, 0x2c, 0x01, 0x0a]),
        Buffer.from(`${device(3)},1,2\n`),
      ]),
    );
    await market.partner.upload('many/b.csv', `${'bad,sport\n'.repeat(150)}${device(1)},sport\n`);
    await market.partner.upload('many/c.csv', 'worse,sport\n');
    await market.partner.upload('many/d.csv', `${device(4)},sport\n`);
    id = await market.api.queue({ file_path: 'many/', key_type: 1, compressed: false });
    await market.api.waitForEnd(id);
  });
  afterAll(() => market.stop());

  /** Follows Link headers to the end, as a client does. */
  const pages = async (kind: 'errors' | 'files', limit: number): Promise<unknown[][]> => {
    const found: unknown[][] = [];
    let path: string | undefined = `/v1/marketplace/import/${id}/${kind}?limit=${limit}`;
    while (path !== undefined) {
      const answer: Response = await market.api.request(path);
      expect(answer.status).toBe(200);
      const page: unknown = await answer.json();
      found.push(Array.isArray(page) ? page : []);
      path = /^<([^>]+)>; rel="next"$/.exec(answer.headers.get('link') ?? '')?.[1];
    }
    return found;
  };
  const allErrors = async (limit: number): Promise<LoadErrorRecord[]> =>
    loadErrorListSchema.parse((await pages('errors', limit)).flat().slice(0, 1000));

  it('name file, row, column, code and text of every refused row, and what failed as a whole', async () => {
    const lines = await allErrors(1000);
    expect(lines[0]).toMatchObject({ file: null, row: null, code: 'file_failed', text: null });
    expect(lines.filter(({ file }) => file === 'many/a.csv')).toEqual([
      expect.objectContaining({ row: 2, column: 'id', code: 'invalid_id', text: 'nonsense,sport' }),
      expect.objectContaining({ row: 3, column: 'keys', code: 'unknown_key', text: `${device(2)},golf` }),
      // 200 bytes of the line, what cannot be printed escaped, a backslash doubled.
      expect.objectContaining({ row: 5, code: 'invalid_id', text: `${'x'.repeat(190)}\\x07\\\\${'y'.repeat(8)}` }),
      expect.objectContaining({ row: 6, column: null, code: 'invalid_utf8', text: '\\xff,\\x01' }),
      expect.objectContaining({ row: 7, column: null, code: 'wrong_column_count', text: `${device(3)},1,2` }),
    ]);
    expect(lines.filter(({ file }) => file === 'many/c.csv').map(({ row, code }) => ({ row, code }))).toEqual([
      { row: null, code: 'no_good_row' },
      { row: 1, code: 'invalid_id' },
    ]);
    expect(lines.every(({ message }) => message.length > 10)).toBe(true);
  });

  it('keep the first hundred rows of each file and reason', async () => {
    const lines = (await allErrors(1000)).filter(({ file }) => file === 'many/b.csv');
    expect(lines.map(({ row }) => row)).toEqual(Array.from({ length: 100 }, (_, n) => n + 1));
  });

  it.each([1, 2, 7, 50])('come in pages of %s, each line once and in order', async (limit) => {
    const whole = await allErrors(1000);
    const paged = await pages('errors', limit);
    expect(loadErrorListSchema.parse(paged.flat())).toEqual(whole);
    expect(paged.slice(0, -1).every((page) => page.length === limit)).toBe(true);
  });

  it('come as CSV for whoever asks for it', async () => {
    const answer = await market.api.request(`/v1/marketplace/import/${id}/errors?limit=3`, {
      headers: { accept: 'text/csv' },
    });
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect((await answer.text()).split('\r\n')).toEqual([
      'file,row,column,code,message,text',
      expect.stringMatching(/^,,,file_failed,1 of 4 files failed\.,$/),
      expect.stringMatching(/^many\/a\.csv,2,id,invalid_id,.*,"nonsense,sport"$/),
      expect.stringMatching(/^many\/a\.csv,3,keys,unknown_key,.*,".*,golf"$/),
      '',
    ]);
  });

  it('say why a job failed that has no files', async () => {
    const missing = await market.api.queue({ file_path: 'nowhere.csv', key_type: 1 });
    await market.api.waitForEnd(missing);
    const answer = await market.api.request(`/v1/marketplace/import/${missing}/errors`);
    expect(await answer.json()).toEqual([expect.objectContaining({ file: null, row: null, code: 'no_files' })]);
  });

  it('are refused with bad limits and cursors', async () => {
    for (const query of [
      'limit=0',
      'limit=1001',
      'limit=x',
      'cursor=x',
      'cursor=1',
      'cursor=1.2.3',
      'cursor=.',
      'other=1',
    ]) {
      const answer = await market.api.request(`/v1/marketplace/import/${id}/errors?${query}`);
      expect(answer.status, query).toBe(400);
    }
  });

  it('list each file with its status, rows, rejects and bytes, in pages', async () => {
    const files = importFileListSchema.parse((await pages('files', 1000)).flat());
    expect(files.map(({ updated_at: _time, ...file }) => file)).toEqual([
      expect.objectContaining({ file: 'many/a.csv', status: 2, total_rows: 6, rejected_rows: 5, error: null }),
      {
        file: 'many/b.csv',
        status: 2,
        total_rows: 151,
        rejected_rows: 150,
        bytes: 1543,
        bytes_read: 1543,
        error: null,
      },
      expect.objectContaining({
        file: 'many/c.csv',
        status: 3,
        total_rows: 1,
        rejected_rows: 1,
        error: { code: 'no_good_row', message: 'All 1 rows were rejected.' },
      }),
      expect.objectContaining({ file: 'many/d.csv', status: 2, total_rows: 1, rejected_rows: 0 }),
    ]);
    for (const limit of [1, 3]) {
      expect(importFileListSchema.parse((await pages('files', limit)).flat())).toEqual(files);
    }
  });
});
