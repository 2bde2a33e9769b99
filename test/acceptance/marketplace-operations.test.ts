import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { device } from '../support/device-id.ts';
import { attributesOf, selectOnShards } from '../support/shard-tables.ts';
import { type Marketplace, joinMarketplace } from '../support/start-marketplace.ts';

describe('row operations in files', () => {
  let market: Marketplace;
  let sport: number;
  let news: number;

  beforeAll(async () => {
    market = await joinMarketplace();
    sport = await market.partner.createAttribute('sport', 'sport');
    news = await market.partner.createAttribute('news', 'news');
  });
  afterAll(() => market.stop());

  const load = async (files: Record<string, string>, options: object = {}) => {
    const folder = `f${Date.now().toString(36)}/`;
    for (const [name, text] of Object.entries(files)) await market.partner.upload(folder + name, text);
    const id = await market.api.queue({ file_path: folder, key_type: 1, compressed: false, ...options });
    return market.api.waitForEnd(id);
  };
  const state = (): Promise<string[]> => attributesOf(market.stores, market.partner.id);
  const pairs = (...list: [number, number][]): string[] => list.map(([key, n]) => `${key} ${device(n)}`).toSorted();

  it('adds and deletes rows with five columns in CSV and TSV, with and without a header', async () => {
    const log = await load({
      'a.csv': `id,id_type,country,operation,keys\r\n${device(1)},1,DE,0,sport|news\r\n${device(2)},3,,0,sport\r\n`,
      'b.tsv': `${device(3)}\t3\tus\t0\t"news"`,
    });
    expect(log).toMatchObject({ status: 2, total_rows: '3', unique_devices: '3', errors: null });
    expect(await state()).toEqual(pairs([sport, 1], [news, 1], [sport, 2], [news, 3]));
    await load({ 'c.csv': `${device(1)},1,DE,1,sport\n${device(2)},3,,1,sport\n` });
    expect(await state()).toEqual(pairs([news, 1], [news, 3]));
  });

  it('applies deletes before adds within a job, even across files', async () => {
    await load({
      '1-add.csv': `${device(10)},1,,0,sport\n`,
      '2-delete.csv': `${device(10)},1,,1,sport\n${device(1)},1,,1,news\n`,
    });
    expect(await state()).toEqual(pairs([sport, 10], [news, 3]));
  });

  it('gives a later job precedence over an earlier job', async () => {
    await load({ 'a.csv': `${device(10)},1,,1,sport\n` });
    expect(await state()).toEqual(pairs([news, 3]));
    await load({ 'a.csv': `${device(10)},sport\n` });
    expect(await state()).toEqual(pairs([sport, 10], [news, 3]));
  });

  it('a replacing job replaces only the attributes that its files contain', async () => {
    const log = await load({ 'a.csv': `${device(20)},sport\n`, 'b.csv': `${device(21)},sport\n` }, { mode: 'replace' });
    expect(log).toMatchObject({ status: 2, unique_devices: '2' });
    expect(await state()).toEqual(pairs([sport, 20], [sport, 21], [news, 3]));
  });

  it('a replacing job replaces nothing if one of its files fails', async () => {
    const before = await state();
    const log = await load({ 'a.csv': `${device(30)},sport\n`, 'b.csv': 'nonsense,sport\n' }, { mode: 'replace' });
    expect(log.status).toBe(3);
    expect(log.errors?.map(({ code }) => code)).toEqual(['file_failed', 'no_good_row', 'invalid_id']);
    expect(log.errors?.[0]?.message).toContain('Nothing was replaced');
    expect(await state()).toEqual(before);
  });

  it('keeps the successful files of a merging job if another file fails', async () => {
    const log = await load({ 'a.csv': `${device(40)},news\n`, 'b.csv': 'nonsense,sport\n' });
    expect(log).toMatchObject({ status: 3, total_rows: '2', unique_devices: '1' });
    expect(await state()).toContain(`${news} ${device(40)}`);
  });

  it('leaves no staging table behind', async () => {
    // A job ends just before its staging table is dropped. The next job in the lane starts after the drop.
    expect(
      (await market.api.waitForEnd(await market.api.queue({ file_path: 'nothing.csv', key_type: 0 }))).status,
    ).toBe(3);
    expect(
      await selectOnShards(
        market.stores,
        `SELECT table, count() FROM system.parts WHERE active AND rows > 0 AND database = currentDatabase() AND table LIKE 'staged%' GROUP BY table`,
      ),
    ).toEqual([]);
  });
});
