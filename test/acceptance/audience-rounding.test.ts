import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { device } from '../support/device-id.ts';
import { rows } from '../support/file-rows.ts';
import { startMarketplace, type Marketplace } from '../support/start-marketplace.ts';
import { audienceClient, type AudienceClient } from './audience-client.ts';

describe('matched devices of small audiences', () => {
  let market: Marketplace;
  let api: AudienceClient;

  beforeAll(async () => {
    market = await startMarketplace('audience-rounding', { INLET_MATCHED_UNIT: '50' });
    api = audienceClient(market.service.url, market.partner.apiKey);
    await market.partner.createAttribute('sport', 'sport');
    await market.partner.upload('known.csv', Array.from({ length: 120 }, (_, n) => `${device(n)},sport\n`).join(''));
    await market.api.waitForEnd(await market.api.queue({ file_path: 'known.csv', key_type: 1 }));
  });
  afterAll(() => market.stop());

  const matchedOf = async (from: number, to: number): Promise<unknown[]> => {
    await market.partner.upload(`${from}-${to}.csv`, rows(from, to));
    const { audienceId } = await api.create('Small', `${from}-${to}.csv`);
    const details = await api.settled(audienceId);
    expect(details.unique_devices).toBe(to - from);
    const listed = (await api.list()).find(({ audience_id }) => audience_id === audienceId);
    return [details.matched_devices, listed?.matched_devices];
  };

  it('an audience of one device does not reveal whether the device is known', async () => {
    expect(await matchedOf(0, 1)).toEqual([0, 0]);
    expect(await matchedOf(500, 501)).toEqual([0, 0]);
  });

  it('the number of matched devices is rounded down in audiences of fewer than 1,000 devices and exact otherwise', async () => {
    expect(await matchedOf(0, 999)).toEqual([100, 100]);
    expect(await matchedOf(0, 1_000)).toEqual([120, 120]);
  });
});
