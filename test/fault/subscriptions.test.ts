import { loadavg } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, inject, it } from 'vitest';
import { type SubscriptionCampaign, startSubscriptionCampaign } from './subscription-campaign.ts';
import { percentile } from './webhook-campaign.ts';

const isLong = inject('campaign') === 'long';
/**
 * The gate runs other suites at the same time, so only the long version has a time limit. Ceph starts to deliver the
 * notifications of a new topic within 30 s, so the short version finds most objects by listing.
 */
const wanted = isLong
  ? { objects: 5_000, perSecond: 20, killEveryMs: 10_000, listSeconds: 30, warmUpMs: 40_000, p95Ms: 5_000 }
  : { objects: 120, perSecond: 15, killEveryMs: 4_000, listSeconds: 2, warmUpMs: 0, p95Ms: 60_000 };
const seed = 23;
const partners = 4;

describe('subscriptions to objects that arrive at random', () => {
  /** Changes objects at a constant rate, as far as the storage allows it. */
  async function run(campaign: SubscriptionCampaign, objects: number): Promise<number> {
    const state = { isDone: false, kills: 0 };
    const killing = (async () => {
      while (!state.isDone) {
        await pause(wanted.killEveryMs);
        if (state.isDone) return;
        await campaign.killWorker();
        state.kills += 1;
      }
    })();
    const start = performance.now();
    let next = 0;
    /** Each partner's objects change one after another. */
    const changeSome = async (partner: number): Promise<void> => {
      for (let n = next++; n < objects; n = next++) {
        await campaign.change(partner);
        await pause(Math.max(0, start + (n * 1000) / wanted.perSecond - performance.now()));
      }
    };
    await Promise.all(Array.from({ length: partners }, (_, partner) => changeSome(partner)));
    state.isDone = true;
    await killing;
    return state.kills;
  }

  async function report(name: string, campaign: SubscriptionCampaign, more: object): Promise<number> {
    const { lags, ...figures } = await campaign.figures();
    const [p50, p95, max] = [0.5, 0.95, 1].map((share) => Math.round(percentile(lags, share)));
    const load = loadavg().map((value) => Math.round(value * 10) / 10);
    process.stdout.write(`subscriptions ${name} ${JSON.stringify({ ...figures, ...more, p50, p95, max, load })}\n`);
    return p95 ?? Number.NaN;
  }

  it(
    'imports each seen version exactly once, even while notifications are lost and workers are killed',
    { timeout: 1_800_000 },
    async () => {
      const campaign = await startSubscriptionCampaign(seed, {
        partners,
        dropped: 0.2,
        listSeconds: wanted.listSeconds,
      });
      try {
        await pause(wanted.warmUpMs);
        const kills = await run(campaign, wanted.objects);
        await campaign.settle(isLong ? 300 : 120);
        const p95 = await report('with notifications', campaign, { kills });
        expect(await campaign.findErrors()).toEqual([]);
        expect(p95).toBeLessThan(wanted.p95Ms);
      } finally {
        await campaign.stop();
      }
    },
  );

  it.runIf(isLong)('imports each version within a minute without notifications', { timeout: 1_200_000 }, async () => {
    const campaign = await startSubscriptionCampaign(seed + 1, { partners, dropped: 1, listSeconds: 30 });
    try {
      const kills = await run(campaign, 1_000);
      await campaign.settle(300);
      const p95 = await report('without notifications', campaign, { kills });
      expect(await campaign.findErrors()).toEqual([]);
      expect(p95).toBeLessThan(60_000);
    } finally {
      await campaign.stop();
    }
  });
});
