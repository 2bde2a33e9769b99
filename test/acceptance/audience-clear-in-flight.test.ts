import * as fc from 'fast-check';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { campaignSeed, runsOf } from '../support/campaign.ts';
import { rows } from '../support/file-rows.ts';
import { createPartner } from '../support/partners.ts';
import { commandOnShards, selectOnShards } from '../support/shard-tables.ts';
import { type Marketplace, joinMarketplace } from '../support/start-marketplace.ts';
import { withDatabase } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';
import { type AudienceClient, audienceClient } from './audience-client.ts';

const nothing = { status: 2, uploaded_devices: 0, unique_devices: 0, matched_devices: 0, file: [] };
const lanes = 4;
const moments = fc.sample(fc.integer({ min: 0, max: 700 }), {
  seed: campaignSeed,
  numRuns: runsOf({ short: 2, long: 25 }),
});
const tries = lanes * moments.length;
const devicesPerShard = runsOf({ short: 500_000, long: 5_000_000 });

describe('clearing an audience', () => {
  let market: Marketplace;
  let api: AudienceClient;

  beforeAll(async () => {
    market = await joinMarketplace();
    api = audienceClient(market.service.url, market.partner.apiKey);
  });
  afterAll(() => market.stop());

  it(`discards a load in progress at ${tries} random moments and loads later files`, { timeout: 600_000 }, async () => {
    const partners = await Promise.all(Array.from({ length: lanes }, () => createPartner(market.stores.environment)));
    await Promise.all(
      partners.map(async (partner) => {
        const client = audienceClient(market.service.url, partner.apiKey);
        await partner.upload('many.csv', rows(0, 20_000));
        await partner.upload('few.csv', rows(50_000, 50_003));
        const { audienceId } = await client.create('cleared', 'few.csv');
        for (const milliseconds of moments) {
          await client.append(audienceId, 'many.csv');
          await pause(milliseconds);
          await client.clear(audienceId);
          expect(await client.get(audienceId)).toMatchObject(nothing);
          await client.append(audienceId, 'few.csv');
          expect(await client.settled(audienceId)).toMatchObject({
            status: 2,
            uploaded_devices: 3,
            unique_devices: 3,
            file: [{ status: 2, rows_uploaded: 3 }],
          });
        }
      }),
    );
    await waitUntil('nothing is staged', async () => (await staged()).length === 0);
  });

  const staged = (): Promise<string[]> =>
    selectOnShards(market.stores, 'SELECT DISTINCT load_id FROM staged_members_local');

  it(
    'clears an audience with many devices as fast as an empty one and purges the devices later',
    { timeout: 300_000 },
    async () => {
      await market.partner.upload('one.csv', rows(0, 1));
      const { audienceId } = await api.create('many devices', 'one.csv');
      const { audienceId: emptyId } = await api.create('empty', 'one.csv');
      await api.settled(audienceId);
      await api.settled(emptyId);
      await commandOnShards(
        market.stores,
        `INSERT INTO audience_devices_local SELECT ${market.partner.id}, ${audienceId}, 0, reinterpretAsUUID(sipHash128(number)), '', 0
       FROM numbers(${devicesPerShard})`,
      );
      const secondsOf = async (id: number): Promise<number> => {
        const start = performance.now();
        await api.clear(id);
        return (performance.now() - start) / 1000;
      };
      const empty: number[] = [];
      for (let time = 0; time < 10; time++) empty.push(await secondsOf(emptyId));
      const full = await secondsOf(audienceId);
      expect(await api.get(audienceId)).toMatchObject(nothing);
      process.stdout.write(
        `clearing ${2 * devicesPerShard} devices: ${full.toFixed(3)} s; nothing: ${Math.max(...empty).toFixed(3)} s at most\n`,
      );
      // Removing the rows takes seconds. Half a second allows for other load on the machine.
      expect(full - Math.max(...empty)).toBeLessThan(0.5);
      const left = async (): Promise<number> =>
        (
          await selectOnShards(
            market.stores,
            `SELECT count() FROM audience_devices_local WHERE audience_id = ${audienceId}`,
          )
        )
          .map(Number)
          .reduce((sum, count) => sum + count);
      await waitUntil('the cleared generation is purged', async () => {
        // After a purge, the next one waits three times as long as that purge took.
        await withDatabase(market.stores, (client) =>
          client.query(`UPDATE sweep SET next_at = NULL WHERE name = 'purge generations'`),
        );
        return (await left()) === 0;
      });
      const noted = (): Promise<number> =>
        withDatabase(market.stores, async (client) => {
          const query = 'SELECT purged_rows AS rows FROM dead_generation WHERE audience_id = $1';
          return Number((await client.query<{ rows: string }>(query, [audienceId])).rows[0]?.rows);
        });
      await waitUntil('the purge records its row count', async () => (await noted()) >= 2 * devicesPerShard);
    },
  );
});
