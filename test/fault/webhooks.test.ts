import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { appendEvents } from '../../src/adapters/postgres/event-log.ts';
import { scheduleSeconds } from '../../src/domain/webhook-schedule.ts';
import { createPartner } from '../support/partners.ts';
import { withDatabase } from '../support/stores.ts';
import { startReceiverProcess } from '../support/webhook-receiver.ts';
import { apiClient } from '../acceptance/api-client.ts';
import { type Campaign, behaviors, campaignSettings, percentile, startCampaign } from './webhook-campaign.ts';

const isLong = inject('campaign') === 'long';
/**
 * The number of events for all receivers together, without kills (`calm`) and with kills (`wild`). The gate runs other
 * suites at the same time, so its limit detects only events that wait for a retry. `test/integration/event-log.test.ts`
 * shows that events do not wait for a poll.
 */
const wanted = isLong
  ? { calm: 2_000, wild: 8_000, killEveryMs: 4_000, p95Ms: 1_000 }
  : { calm: 200, wild: 150, killEveryMs: 1_500, p95Ms: 10_000 };
const seed = 23;
/** The longest time between the last two attempts to send an event. */
const longestPauseSeconds = Math.max(...scheduleSeconds) * 1.2 * Number(campaignSettings.INLET_WEBHOOK_TIME_SCALE);

describe('event delivery', () => {
  let campaign: Campaign;
  let subscribers: Awaited<ReturnType<Campaign['subscribe']>>[];

  beforeAll(async () => {
    campaign = await startCampaign(seed);
    subscribers = [];
    for (const [name, behave] of Object.entries(behaviors)) {
      const subscriber = await campaign.subscribe(name, ({ url }) => `${url}/hooks`);
      const reply = behave(campaign.random);
      const start = performance.now();
      subscriber.receiver.reply = () => reply(performance.now() - start);
      subscribers.push(subscriber);
    }
  });
  afterAll(() => campaign.stop(subscribers));

  const appendAll = async (count: number, betweenMs: number): Promise<void> => {
    for (let appended = 0; appended < count;) {
      const subscriber = subscribers[Math.floor(campaign.random() * subscribers.length)];
      if (subscriber) appended += await campaign.append(subscriber);
      await new Promise((resolve) => setTimeout(resolve, betweenMs));
    }
  };

  it(
    'delivers every event even if receivers fail and workers and the API are killed',
    { timeout: 600_000 },
    async () => {
      const unreachable = await campaign.subscribe(
        'has a private address',
        ({ url }) => `http://localhost:${new URL(url).port}/`,
      );
      subscribers.push(unreachable);
      const killed = await startReceiverProcess();
      subscribers.push(await campaign.subscribe('is killed', ({ url }) => `${url}/hooks`, killed));
      await appendAll(wanted.calm, 10);
      const [works] = subscribers;
      if (!works) throw new Error('there is no receiver');
      expect(await campaign.check(works, 10)).toEqual([]);
      const p95 = percentile(campaign.delays(works), 0.95);

      const state = { isDone: false };
      let restarts = 0;
      const appending = appendAll(wanted.wild, 10).finally(() => (state.isDone = true));
      const reading = campaign.readLog(works, () => state.isDone);
      for (let n = 0; !state.isDone; n += 1) {
        await new Promise((resolve) => setTimeout(resolve, wanted.killEveryMs * (0.5 + campaign.random())));
        if (n % 3 === 2) await campaign.killApi();
        else await campaign.killWorker();
        await killed.restart();
        restarts += 1;
      }
      await appending;
      const read = await reading;
      expect(read).toEqual(read.map((_, n) => n + 1));
      // From now on, all receivers accept every event. Otherwise, an event could fail ten times by chance, which would
      // end its attempts. No event can have failed ten times by now.
      for (const { receiver } of subscribers) receiver.reply = () => ({ status: 204 });
      const wrong: string[] = [];
      expect(unreachable.receiver.received).toEqual([]);
      await campaign.moveTo(unreachable, `${unreachable.receiver.url}/hooks`);
      for (const subscriber of subscribers) wrong.push(...(await campaign.check(subscriber, longestPauseSeconds + 30)));
      expect(wrong).toEqual([]);
      expect(restarts).toBeGreaterThan(0);
      const requests = subscribers.reduce((sum, { receiver }) => sum + receiver.received.length, 0);
      const figures = {
        attempts: Object.fromEntries(subscribers.map((one) => [one.name, campaign.mostAttempts(one)])),
        events: wanted.calm + wanted.wild,
        requests,
        restarts,
        p95Ms: Math.round(p95),
        p95WithKillsMs: Math.round(percentile(campaign.delays(works), 0.95)),
      };
      process.stdout.write(`webhooks ${JSON.stringify(figures)}\n`);
      expect(p95).toBeLessThan(wanted.p95Ms);
    },
  );

  it.runIf(isLong)('does not slow down loads while 100,000 deliveries are pending', { timeout: 600_000 }, async () => {
    const { deps, stores, environment } = campaign;
    const partner = await createPartner(environment);
    await partner.createAttribute('sport', 'sport');
    const api = apiClient(campaign.url(), partner.apiKey);
    const loadMs = async (run: string): Promise<number> => {
      const times: number[] = [];
      for (let n = 0; n < 15; n += 1) {
        const path = `${run}-${n}.csv`;
        await partner.upload(path, '6d92078a-8246-4ba4-ae5b-76104861e7dc,sport\n');
        const start = performance.now();
        await api.waitForEnd(await api.queue({ file_path: path, key_type: 1 }));
        times.push(performance.now() - start);
      }
      return percentile(
        times.toSorted((one, other) => one - other),
        0.5,
      );
    };
    await loadMs('warm-up');
    const before = await loadMs('before');
    const slow = await campaign.subscribe('never responds', ({ url }) => url);
    slow.receiver.reply = () => 'hang';
    subscribers.push(slow);
    for (let n = 0; n < 100; n += 1)
      await deps.db.transaction().execute((tx) =>
        appendEvents(
          tx,
          { partnerId: slow.partner.id, customerId: null },
          Array.from({ length: 1_000 }, () => ({
            type: 'audience.cleared' as const,
            data: { audienceId: 1, warehouseSegmentId: 500_001 },
          })),
        ),
      );
    await withDatabase(stores, (client) =>
      client.query(
        `INSERT INTO webhook_delivery (webhook_id, sequence, partner_id, event_type, tries, next_attempt_at)
         SELECT $1, n, $2, 'audience.cleared', 3, now() + interval '1 hour' FROM generate_series(1, 100000) AS n
         ON CONFLICT DO NOTHING`,
        [slow.webhookId, slow.partner.id],
      ),
    );
    const during = await loadMs('during');
    const ratio = during / before;
    process.stdout.write(
      `webhooks ${JSON.stringify({ loadMs: Math.round(before), loadMsWithPending: Math.round(during), ratio })}\n`,
    );
    expect(ratio).toBeLessThan(1.25);
  });
});
