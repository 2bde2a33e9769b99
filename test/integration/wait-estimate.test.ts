import * as fc from 'fast-check';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { campaignSeed, runsOf } from '../support/campaign.ts';
import { device } from '../support/device-id.ts';
import { createPartner } from '../support/partners.ts';
import { type Marketplace, startMarketplace } from '../support/start-marketplace.ts';
import { type Wired, wireUp } from '../support/wired.ts';
import { apiClient } from '../acceptance/api-client.ts';

// Compares the estimates of waiting jobs with the times at which they finish, under mixed load.

type Sample = { readonly at: number; readonly secondsLeft: number };

const jobs = runsOf({ short: 30, long: 200 });
const rowsOfFiles = [1, 1_000, 20_000, 100_000];

describe('the estimate of a waiting job', () => {
  let market: Marketplace;
  let deps: Wired;

  beforeAll(async () => {
    market = await startMarketplace('wait-estimate', { INLET_MAX_OPEN_JOBS: '250' });
    deps = await wireUp(market.stores);
  });
  afterAll(async () => {
    await deps.close();
    await market.stop();
  });

  it('the estimate is close to the actual time halfway through the wait', { timeout: 600_000 }, async () => {
    const other = await createPartner(market.stores.environment);
    for (const partner of [market.partner, other]) {
      await partner.createAttribute('sport', 'sport');
      for (const rows of rowsOfFiles) {
        const lines = Array.from({ length: rows }, (_, n) => `${device(n)},sport\n`);
        await partner.upload(`${rows}.csv`, lines.join(''));
      }
    }
    const otherApi = apiClient(market.service.url, other.apiKey);
    const sizes = fc.sample(fc.constantFrom(...rowsOfFiles), { numRuns: jobs, seed: campaignSeed });
    // The estimate needs finished jobs.
    for (const rows of rowsOfFiles) {
      await market.api.waitForEnd(await market.api.queue({ file_path: `${rows}.csv`, key_type: 1 }));
    }
    const ids: number[] = [];
    for (const [index, rows] of sizes.entries()) {
      ids.push(await market.api.queue({ file_path: `${rows}.csv`, key_type: 1 }));
      if (index % 4 === 0) await otherApi.queue({ file_path: `${rows}.csv`, key_type: 1 });
    }
    const samples = new Map<number, Sample[]>(ids.map((id) => [id, []]));
    const ends = new Map<number, { readonly createdAt: number; readonly finishedAt: number }>();
    while (ends.size < ids.length) {
      const [newest, rest] = [await listed(), await listed(ids.at(-100))];
      for (const { importLogId: id, progress, createdAt, finishedAt } of [...newest, ...rest]) {
        if (finishedAt && samples.has(id))
          ends.set(id, { createdAt: createdAt.getTime(), finishedAt: finishedAt.getTime() });
        else if (progress.secondsLeft !== null)
          samples.get(id)?.push({ at: Date.now(), secondsLeft: progress.secondsLeft });
      }
      await pause(200);
    }
    const errors = ids.flatMap((id) => {
      const { createdAt, finishedAt } = ends.get(id) ?? { createdAt: 0, finishedAt: 0 };
      const sample = samples.get(id)?.find(({ at }) => at >= (createdAt + finishedAt) / 2);
      if (!sample || sample.at >= finishedAt) return [];
      const left = (finishedAt - sample.at) / 1000;
      return [Math.abs(sample.secondsLeft - left) / left];
    });
    errors.sort((one, other_) => one - other_);
    const median = errors[Math.floor(errors.length / 2)] ?? Number.NaN;
    process.stdout.write(`${errors.length} estimates at half time: median error ${(median * 100).toFixed(0)}%\n`);
    expect(errors.length).toBeGreaterThan(jobs * 0.8);
    // Estimates are whole seconds, and the jobs of a short campaign finish within a few seconds.
    expect(median).toBeLessThanOrEqual(inject('campaign') === 'long' ? 0.3 : 0.5);
  });

  async function listed(before?: number) {
    return deps.importLogs.listNewest(market.partner.id, 100, before);
  }
});
