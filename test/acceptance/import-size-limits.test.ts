import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ImportLogRecord } from '../../src/adapters/http/records/import-log.ts';
import { goodRows } from '../corpus/lines.ts';
import { type Marketplace, startMarketplace } from '../support/start-marketplace.ts';

const rows = goodRows(3);
const plain = rows.length;
const gzipped = gzipSync(rows).length;
const settings = {
  INLET_MAX_FILES_PER_PREFIX: '3',
  INLET_MAX_PLAIN_FILE_BYTES: String(plain),
  INLET_MAX_GZIP_FILE_BYTES: String(gzipped),
};

describe('import size limits', () => {
  let market: Marketplace;

  beforeAll(async () => {
    market = await startMarketplace('import-size-limits', settings);
    await market.partner.createAttribute('sport', 'sport');
    for (const n of [1, 2, 3]) await market.partner.upload(`three/${n}.csv`, rows);
    for (const n of [1, 2, 3, 4]) await market.partner.upload(`four/${n}.csv`, rows);
    await market.partner.upload('longer.csv', Buffer.concat([rows, Buffer.from('\n')]));
    await market.partner.upload('even.csv.gz', gzipSync(rows));
    await market.partner.upload('longer.csv.gz', gzipSync(Buffer.concat([rows, goodRows(30, 4)])));
  });
  afterAll(() => market.stop());

  async function load(file_path: string, compressed = false): Promise<ImportLogRecord> {
    return market.api.waitForEnd(await market.api.queue({ file_path, key_type: 1, compressed }));
  }
  const failureOf = async (path: string, compressed = false): Promise<(string | null | undefined)[]> =>
    ((await load(path, compressed)).errors ?? []).flatMap(({ code, message }) => [code, message]);

  it.each([
    { path: 'three/', compressed: false, total_rows: '9' },
    { path: 'even.csv.gz', compressed: true, total_rows: '3' },
  ])('accepts $path, which is exactly at the limit', async ({ path, compressed, total_rows }) => {
    expect(await load(path, compressed)).toMatchObject({ status: 2, total_rows, errors: null });
  });

  it('rejects all files under a prefix that contains one file too many', async () => {
    expect(await load('four/')).toMatchObject({ status: 3, total_rows: '0', unique_devices: '0' });
    expect(await failureOf('four/')).toEqual(['too_many_files', 'More than 3 files begin with "four/".']);
  });

  it('rejects an uncompressed file that is one byte too large', async () => {
    expect(await failureOf('longer.csv')).toEqual([
      'file_too_large',
      `The file has ${plain + 1} bytes; the limit is ${plain}.`,
    ]);
  });

  it('rejects a gzip file that is too large', async () => {
    const [code, message] = await failureOf('longer.csv.gz', true);
    expect(code).toBe('file_too_large');
    expect(message).toMatch(new RegExp(`^The file has \\d+ bytes; the limit is ${gzipped}\\.$`));
  });
});
