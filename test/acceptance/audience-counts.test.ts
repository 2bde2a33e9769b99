import { createClient } from '@clickhouse/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeEngine } from '../../src/adapters/clickhouse/connect.ts';
import { runsOf } from '../support/campaign.ts';
import { type Marketplace, startMarketplace } from '../support/start-marketplace.ts';
import { connectTestEngine } from '../support/test-engine.ts';
import { audienceClient } from './audience-client.ts';

// Half of the devices in each file are also in the previous file.

const appends = runsOf({ short: 6, long: 20 });
const rowsOfFile = runsOf({ short: 300_000, long: 500_000 });
const step = rowsOfFile / 2;
const mebibyte = 1024 * 1024;

/** A device ID that ends with the given number. */
const fileOf = (append: number): string => {
  const lines: string[] = [];
  for (let n = append * step; n < append * step + rowsOfFile; n++) {
    lines.push(`c0ffee00-0000-4000-8000-${n.toString(16).padStart(12, '0')},\n`);
  }
  return lines.join('');
};

describe('audience counts', () => {
  let market: Marketplace;

  beforeAll(async () => {
    market = await startMarketplace('audience-counts');
    const known = `toUUID(concat('c0ffee00-0000-4000-8000-', leftPad(lower(hex(number * 3)), 12, '0')))`;
    const engine = connectTestEngine(market.stores);
    await engine.shards[0][0].command({
      query: `INSERT INTO known_devices SELECT ${known} FROM numbers(1000000)`, // One in three of the three million devices is known.
      clickhouse_settings: { distributed_foreground_insert: 1 },
    });
    await closeEngine(engine);
  });
  afterAll(() => market.stop());

  it(
    `audience counts stay exact and need little memory after ${appends} half-overlapping appends of ${rowsOfFile} rows`,
    { timeout: 600_000 },
    async () => {
      const api = audienceClient(market.service.url, market.partner.apiKey);
      await market.partner.upload('0.csv', fileOf(0));
      const { audienceId } = await api.create('grows', '0.csv');
      for (let append = 1; append < appends; append++) {
        await market.partner.upload(`${append}.csv`, fileOf(append));
        await api.append(audienceId, `${append}.csv`);
      }
      const unique = step * (appends + 1);
      expect(await api.settled(audienceId, 500)).toMatchObject({
        status: 2,
        uploaded_devices: appends * rowsOfFile,
        unique_devices: unique,
        matched_devices: Math.ceil(Math.min(unique, 3_000_000) / 3),
      });
      const peak = await memoryOfCounts();
      process.stdout.write(`counting ${unique} devices: peak ${Math.round(peak / mebibyte)} MiB\n`);
      expect(peak).toBeGreaterThan(0);
      expect(peak).toBeLessThan(200 * mebibyte);
    },
  );

  /** Returns the highest peak memory of any query on the audience across all shards. */
  const memoryOfCounts = async (): Promise<number> => {
    const peaks = await Promise.all(
      market.stores.config.INLET_CLICKHOUSE_URLS.flat().map(async (url) => {
        const client = createClient({ url: url.reveal() });
        await client.command({ query: 'SYSTEM FLUSH LOGS' });
        const result = await client.query({
          query: `SELECT toString(max(memory_usage)) AS bytes FROM system.query_log
            WHERE query_kind = 'Select' AND current_database = {database: String} AND type = 'QueryFinish'
              AND has(tables, concat({database: String}, '.audience_devices_local'))`,
          query_params: { database: market.stores.database },
          format: 'JSONEachRow',
        });
        const [row] = await result.json<{ bytes: string }>();
        await client.close();
        return Number(row?.bytes ?? 0);
      }),
    );
    return Math.max(...peaks);
  };
});
