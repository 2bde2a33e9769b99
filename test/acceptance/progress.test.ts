import type { ImportLogRecord } from '../../src/adapters/http/records/import-log.ts';
import { audienceDetailsSchema } from '../../src/adapters/http/records/audience.ts';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packedRows } from '../support/file-rows.ts';
import { device } from '../support/device-id.ts';
import { startProxy, type Proxy } from '../support/proxy.ts';
import { startMarketplace, type Marketplace } from '../support/start-marketplace.ts';
import { readAddresses } from '../../stack/addresses.ts';
import { audienceClient, audiencePath } from './audience-client.ts';

const rows = 1_000_000;
/** The minimum duration of the throttled download. The worker records progress twice a second. */
const secondsOfFlow = 6;

describe('progress', () => {
  let storage: Proxy;
  let market: Marketplace;

  beforeAll(async () => {
    storage = await startProxy(readAddresses().s3.endpoint);
    market = await startMarketplace('progress', { INLET_S3_ENDPOINT: storage.address });
    await market.partner.createAttribute('sport', 'sport');
  });
  afterAll(async () => {
    await market.stop();
    await storage.close();
  });

  it(`progress never decreases during a load of ${rows} rows and ends at 100`, { timeout: 180_000 }, async () => {
    const file = await packedRows(rows, 'sport');
    await market.partner.upload('large.csv.gz', file);
    storage.make({ is: 'slow', bytesPerSecond: file.length / secondsOfFlow });
    const id = await market.api.queue({ file_path: 'large.csv.gz', key_type: 1 });
    await market.partner.upload('small.csv', `${device(1)},sport\n`);
    const next = await market.api.queue({ file_path: 'small.csv', key_type: 1 });
    const seen: ImportLogRecord[] = [];
    do {
      await pause(100);
      seen.push(await market.api.get(id));
    } while ((seen.at(-1)?.status ?? 0) < 2);
    storage.make({ is: 'none' });
    const waiting = await market.api.get(next);
    expect(waiting.progress.queue_position).toBeLessThanOrEqual(1);

    const last = seen.at(-1);
    expect(last).toMatchObject({
      status: 2,
      total_rows: String(rows),
      unique_devices: String(rows),
      progress: {
        percent: 100,
        bytes_read: file.length,
        bytes_total: file.length,
        rows_read: rows,
        queue_position: 0,
        estimated_seconds_left: 0,
      },
    });
    const steps = seen.map(({ progress }) => progress);
    for (const field of ['percent', 'bytes_read', 'rows_read'] as const) {
      const values = steps.map((step) => step[field]);
      expect(values).toEqual(values.toSorted((a, b) => a - b));
    }
    // Progress was observed during the load, not only at its start and end.
    const between = steps.filter(({ percent }) => percent > 0 && percent < 100);
    expect(new Set(between.map(({ bytes_read }) => bytes_read)).size).toBeGreaterThanOrEqual(3);
    expect(between.some(({ rows_read }) => rows_read > 0 && rows_read < rows)).toBe(true);
    expect(between.some(({ estimated_seconds_left }) => (estimated_seconds_left ?? 0) > 0)).toBe(true);
    await market.api.waitForEnd(next);
  });

  it('followers of an audience receive the progress of its appends while they load', { timeout: 180_000 }, async () => {
    const audiences = audienceClient(market.service.url, market.partner.apiKey);
    const file = await packedRows(rows, 'visit');
    await market.partner.upload('members/1.csv.gz', file);
    await market.partner.upload('late.csv', `${device(1)},visit\n`);
    storage.make({ is: 'slow', bytesPerSecond: file.length / secondsOfFlow });
    const { audienceId } = await audiences.create('Progress', 'members/');
    await audiences.append(audienceId, 'late.csv');
    const stream = await audiences.request(`${audiencePath}/${audienceId}/events?include_files=false`);
    const events = stream.text();
    let history = await audiences.history(audienceId);
    while ((history[1]?.append?.progress.rows_read ?? rows) === 0) {
      await pause(100);
      history = await audiences.history(audienceId);
    }
    expect(history.map(({ append }) => append?.progress.queue_position)).toEqual([1, 0]);
    expect(history[1]?.append?.progress).toMatchObject({ bytes_total: file.length });
    expect(history[1]?.append?.progress.percent).toBeLessThan(100);
    const seen = [...(await events).matchAll(/^data: (.*)$/gm)].map(([, text = '']) =>
      audienceDetailsSchema.parse(JSON.parse(text)),
    );
    storage.make({ is: 'none' });
    const between = seen.filter(({ status, progress }) => status === 1 && progress.percent > 0);
    expect(new Set(between.map(({ progress }) => progress.bytes_read)).size).toBeGreaterThanOrEqual(3);
    expect(between.some(({ progress }) => (progress.estimated_seconds_left ?? 0) > 0)).toBe(true);
    expect(seen.at(-1)).toMatchObject({
      status: 2,
      progress: { percent: 100, queue_position: 0, estimated_seconds_left: 0, rows_read: 1 },
    });
  });
});
