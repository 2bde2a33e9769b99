import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiClient } from '../acceptance/api-client.ts';
import { readEvents } from '../support/event-stream.ts';
import { metricsOf } from '../support/metrics.ts';
import { startApi } from '../support/running-service.ts';
import { withDatabase } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';
import { type WaitingJobs, startWaitingJobs } from '../support/waiting-jobs.ts';

describe('many subscribers', () => {
  let jobs: WaitingJobs;

  beforeAll(async () => {
    jobs = await startWaitingJobs('many-subscribers', { INLET_STREAM_SECONDS: '3' });
  });
  afterAll(() => jobs.stop());

  const pathOf = (id: number): string => `/v1/marketplace/import/${id}`;
  const waitFor = (id: number, more: Record<string, string> = {}): Promise<Response> =>
    jobs.api.request(pathOf(id), { headers: { prefer: 'wait=60', ...more } });
  const broadcasterCalls = async (): Promise<{ marks: number; reads: number }> => ({
    marks: await jobs.callsOf('importLogs', 'marksOf'),
    reads: await jobs.callsOf('importLogs', 'find'),
  });

  /** A subscriber that has just connected or disconnected can cause one more poll. */
  async function untilQuiet(leastReads = 0): Promise<{ marks: number; reads: number }> {
    let now = await broadcasterCalls();
    await waitUntil('polling has stopped', async () => {
      const last = now;
      await pause(500);
      now = await broadcasterCalls();
      return now.reads >= leastReads && now.marks === last.marks;
    });
    return now;
  }
  const busyConnections = (): Promise<number> =>
    withDatabase(jobs.stores, async (client) => {
      const { rows } = await client.query<{ busy: string }>(`SELECT count(*) AS busy FROM pg_stat_activity
        WHERE datname = current_database() AND application_name LIKE 'inlet-api%' AND state <> 'idle'`);
      return Number(rows[0]?.busy);
    });

  it('uses one listening connection, few statements, and no other connection while 200 subscribers wait', async () => {
    const ids: number[] = [];
    for (let n = 0; n < 20; n++) ids.push(await jobs.queue());
    const before = await broadcasterCalls();
    const keys = await jobs.callsOf('partners', 'findByKeyHash');
    const answers = Array.from({ length: 200 }, (_, n) => waitFor(ids[n % ids.length] ?? 0));
    await waitUntil(
      'all waiters have connected',
      async () => (await jobs.callsOf('partners', 'findByKeyHash')) >= keys + 200,
    );
    const connected = await untilQuiet(before.reads + ids.length);
    await pause(3_000);
    const waited = await broadcasterCalls();
    expect(await jobs.listeners()).toHaveLength(1);
    // A connection held for a waiting subscriber would be busy all the time. Rechecking keys takes only a moment.
    await waitUntil('no connection is busy', async () => (await busyConnections()) === 0, 10);
    // Each record is read once, and one statement polls all records.
    expect(waited.reads - before.reads).toBe(ids.length);
    expect(connected.marks - before.marks).toBeLessThan(100);
    expect(waited.marks - connected.marks).toBeLessThanOrEqual(1);

    for (const id of ids) await jobs.cancel(id);
    const all = await Promise.all(answers);
    expect(all.map(({ status }) => status)).toEqual(all.map(() => 200));
    for (const answer of all) expect(await answer.json()).toMatchObject({ status: 3 });
    const after = await broadcasterCalls();
    process.stdout.write(`${JSON.stringify({ before, connected, waited, after })}\n`);
    expect(after.reads - waited.reads).toBe(ids.length);
  });

  it('removes subscribers that disconnect and no longer polls their records', async () => {
    const id = await jobs.queue();
    const leaving = new AbortController();
    const waiting = jobs.api.request(pathOf(id), {
      headers: { prefer: 'wait=60', 'if-none-match': '"x"' },
      signal: leaving.signal,
    });
    expect((await waiting).status).toBe(200);
    const streams = await Promise.all(
      Array.from({ length: 5 }, async () =>
        readEvents(await jobs.api.request(`${pathOf(id)}/events`, { signal: leaving.signal })),
      ),
    );
    const gone = Promise.allSettled(streams.map(({ ended }) => ended));
    await waitUntil('all streams have started', () =>
      Promise.resolve(streams.every(({ events }) => events.length > 0)),
    );
    leaving.abort();
    await gone;
    const start = await untilQuiet();
    // Restoring a lost listener would poll every record that is still followed.
    await jobs.endListeners();
    await pause(2_500);
    expect(await broadcasterCalls()).toEqual(start);
    await jobs.cancel(id);
  });

  it('ends streams after the time limit and counts neither streams nor waits as slow requests', async () => {
    const id = await jobs.queue();
    const secondsOf = async (): Promise<number> =>
      (await metricsOf(jobs.service))
        .split('\n')
        .filter((line) => /^inlet_http_request_seconds_sum\{operation="(follow|get)ImportLog"/.test(line))
        .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
    const before = await secondsOf();
    const start = performance.now();
    const stream = readEvents(await jobs.api.request(`${pathOf(id)}/events`));
    await stream.ended;
    expect(stream.events.map(({ event }) => event)).toEqual(['progress']);
    const waited = await jobs.api.request(pathOf(id), { headers: { prefer: 'wait=3' } });
    expect(waited.status).toBe(200);
    expect(performance.now() - start).toBeGreaterThan(5_500);
    expect((await secondsOf()) - before).toBeLessThan(3);
    await jobs.cancel(id);
  });

  it('shuts down without delay, answers each waiting request, and ends streams', async () => {
    const id = await jobs.queue();
    const victim = await startApi(jobs.stores.environment, 'many-subscribers-victim');
    const client = apiClient(victim.url, jobs.partner.apiKey);
    const waiters = Array.from({ length: 50 }, () => client.request(pathOf(id), { headers: { prefer: 'wait=60' } }));
    const streams = await Promise.all(
      Array.from({ length: 20 }, async () => readEvents(await client.request(`${pathOf(id)}/events`))),
    );
    await waitUntil('all streams have started', () =>
      Promise.resolve(streams.every(({ events }) => events.length === 1)),
    );
    const start = performance.now();
    const exited = once(victim.child, 'exit');
    victim.child.kill('SIGTERM');
    for (const answer of await Promise.all(waiters)) {
      expect(answer.status).toBe(200);
      expect(await answer.json()).toMatchObject({ status: 0 });
    }
    await Promise.all(streams.map(({ ended }) => ended));
    expect(await exited).toEqual([0, null]);
    process.stdout.write(`stopped within ${Math.round(performance.now() - start)} ms\n`);
    expect(performance.now() - start).toBeLessThan(5_000);
    await jobs.cancel(id);
  });
});
