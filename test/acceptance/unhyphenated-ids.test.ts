import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dryRunSchema } from '../../src/adapters/http/records/dry-run.ts';
import { limitsSchema } from '../../src/adapters/http/routes/get-limits.ts';
import { device } from '../support/device-id.ts';
import { attributesOf } from '../support/shard-tables.ts';
import { type Marketplace, joinMarketplace } from '../support/start-marketplace.ts';

describe('IDs without hyphens', () => {
  let market: Marketplace;
  let attribute: number;
  beforeAll(async () => {
    market = await joinMarketplace();
    attribute = await market.partner.createAttribute('sport', 'sport');
    const bare = device(2).replaceAll('-', '');
    await market.partner.upload('mixed.csv', `${device(1)},sport\n${bare},sport\n${bare.toUpperCase()},sport\n`);
  });
  afterAll(() => market.stop());

  const isAllowed = async (): Promise<boolean> =>
    limitsSchema.parse(await (await market.api.request('/v1/limits')).json()).unhyphenated_ids;
  const imported = async () => market.api.waitForEnd(await market.api.queue({ file_path: 'mixed.csv', key_type: 1 }));
  const predicted = async (): Promise<number | undefined> => {
    const body = JSON.stringify({ file_path: 'mixed.csv', key_type: 1 });
    const answer = await market.api.request('/v1/marketplace/import/dry-run', { method: 'POST', body });
    return dryRunSchema.parse(await answer.json()).files[0]?.accepted_rows;
  };

  it('IDs without hyphens are rejected as hashes by default', async () => {
    expect(await isAllowed()).toBe(false);
    expect(await predicted()).toBe(1);
    expect(await imported()).toMatchObject({ status: 2, errors: [{ code: 'hashed_id', row: 2, count: 2 }] });
  });

  it('IDs without hyphens identify the same devices as IDs with hyphens once the operator allows them', async () => {
    await market.partner.operate('partner', 'set', market.partner.name, '--unhyphenated-ids', 'yes');
    expect(await isAllowed()).toBe(true);
    expect(await predicted()).toBe(3);
    expect(await imported()).toMatchObject({ status: 2, errors: null, unique_devices: '2' });
    const loaded = await attributesOf(market.stores, market.partner.id);
    expect(loaded.toSorted()).toEqual([1, 2].map((n) => `${attribute} ${device(n)}`).toSorted());
  });
});
