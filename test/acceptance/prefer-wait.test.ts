import { audienceDetailsSchema } from '../../src/adapters/http/records/audience.ts';
import { importLogSchema } from '../../src/adapters/http/records/import-log.ts';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWaitingJobs, type WaitingJobs } from '../support/waiting-jobs.ts';
import { waitUntil } from '../support/wait-until.ts';
import { audiencePath } from './audience-client.ts';

/**
 * The maximum time from the end of a job to the response, including a new connection to read the clock. On a busy
 * machine, 105 to 379 ms were measured. Other machines can be slower.
 */
const soonMs = 3_000;

describe('Prefer: wait', () => {
  let jobs: WaitingJobs;

  beforeAll(async () => {
    jobs = await startWaitingJobs('prefer-wait');
  });
  afterAll(() => jobs.stop());

  const pathOf = (id: number): string => `/v1/marketplace/import/${id}`;
  const ask = (path: string, headers: Record<string, string>): Promise<Response> => jobs.api.request(path, { headers });
  const tagOf = async (path: string): Promise<string> => (await jobs.api.request(path)).headers.get('etag') ?? '';
  /** Until the listener is connected, records are polled every second. */
  const untilListening = (): Promise<void> =>
    waitUntil('one listener is connected', async () => (await jobs.listeners()).length === 1);
  async function timed<T>(run: () => Promise<T>): Promise<{ result: T; seconds: number }> {
    const start = performance.now();
    return { result: await run(), seconds: (performance.now() - start) / 1000 };
  }

  it('returns the current record after the timeout or 304 if the client already has it', async () => {
    const path = pathOf(await jobs.queue());
    const tag = await tagOf(path);
    const unknown = await timed(() => ask(path, { prefer: 'wait=1' }));
    const known = await timed(() => ask(path, { prefer: 'respond-async, wait=2', 'if-none-match': tag }));
    expect([unknown.result.status, known.result.status]).toEqual([200, 304]);
    expect(unknown.result.headers.get('preference-applied')).toBe('wait=1');
    expect(known.result.headers.get('preference-applied')).toBe('wait=2');
    expect(unknown.result.headers.get('etag')).toBe(tag);
    expect(unknown.seconds).toBeGreaterThanOrEqual(0.95);
    expect(known.seconds).toBeGreaterThanOrEqual(1.95);
    expect(known.seconds).toBeLessThan(10);
  });

  it('the wait preference is ignored if it is malformed or cannot have an effect', async () => {
    const path = pathOf(await jobs.queue());
    for (const prefer of ['wait', 'wait=0', 'wait=x', 'respond-async', 'wait=-5']) {
      const { result, seconds } = await timed(() => ask(path, { prefer }));
      expect([result.status, result.headers.has('preference-applied')], prefer).toEqual([200, false]);
      expect(seconds).toBeLessThan(5);
    }
    const star = await timed(() => ask(path, { prefer: 'wait=60', 'if-none-match': '*' }));
    expect(star.result.status).toBe(304);
    expect(star.seconds).toBeLessThan(5);
  });

  it('the wait preference is capped at one minute', async () => {
    const id = await jobs.queue();
    const waiting = ask(pathOf(id), { prefer: 'wait=3600' });
    await cancelAllUpTo(id);
    expect((await waiting).headers.get('preference-applied')).toBe('wait=60');
  });

  it('returns immediately if the record is finished or its tag differs from the known tag', async () => {
    const [first = 0] = (await jobs.api.list()).filter(({ status }) => status === 3).map((log) => log.import_log_id);
    const final = await timed(() => ask(pathOf(first), { prefer: 'wait=60' }));
    expect(final.result.headers.get('preference-applied')).toBe('wait=60');
    const open = await jobs.queue();
    const other = await timed(() => ask(pathOf(open), { prefer: 'wait=60', 'if-none-match': '"another"' }));
    expect([final.result.status, other.result.status]).toEqual([200, 200]);
    expect(final.seconds + other.seconds).toBeLessThan(10);
  });

  /** Cancels every open job up to this one, because jobs end in order and no worker runs. */
  async function cancelAllUpTo(id: number): Promise<void> {
    const open = (await jobs.api.list()).filter((log) => log.status < 2 && log.import_log_id <= id);
    for (const { import_log_id } of open.toReversed()) await jobs.cancel(import_log_id);
  }

  it('returns soon after another process ends the job', async () => {
    const id = await jobs.queue();
    const waiting = ask(pathOf(id), { prefer: 'wait=60' });
    await untilListening();
    await cancelAllUpTo(id);
    const answer = await waiting;
    const late = await jobs.sinceEnd(id);
    expect(importLogSchema.parse(await answer.json())).toMatchObject({ import_log_id: id, status: 3 });
    expect(late).toBeLessThan(soonMs);
  });

  it('returns even if the notification connection is terminated repeatedly', async () => {
    const id = await jobs.queue();
    const waiting = ask(pathOf(id), { prefer: 'wait=60' });
    await untilListening();
    const stop = new AbortController();
    let ended = 0;
    const ending = (async () => {
      while (!stop.signal.aborted) {
        ended += await jobs.endListeners();
        await pause(20);
      }
    })();
    await cancelAllUpTo(id);
    const { seconds, result } = await timed(() => waiting);
    stop.abort();
    await ending;
    expect(ended).toBeGreaterThan(0);
    expect(importLogSchema.parse(await result.json())).toMatchObject({ status: 3 });
    expect(seconds).toBeLessThan(5);
    await untilListening();
  });

  it('returns on the next change after the known tag, including a change of queue position', async () => {
    const [first, second] = [await jobs.queue(), await jobs.queue()];
    const tag = await tagOf(pathOf(second));
    const waiting = ask(pathOf(second), { prefer: 'wait=60', 'if-none-match': tag });
    await cancelAllUpTo(first);
    const answer = await waiting;
    expect(answer.status).toBe(200);
    expect(importLogSchema.parse(await answer.json())).toMatchObject({ status: 0, progress: { queue_position: 0 } });
    await cancelAllUpTo(second);
  });

  it('returns soon after a worker completes the job, for imports and audiences', async () => {
    const { audienceId } = await jobs.audiences.create('Summer', 'members/');
    const ids = [await jobs.queue(), await jobs.queue()];
    const audience = ask(`${audiencePath}/${audienceId}`, { prefer: 'wait=60' });
    const answers = ids.map(async (id) => {
      const answer = await ask(pathOf(id), { prefer: 'wait=60' });
      const late = await jobs.sinceEnd(id);
      return { late, log: importLogSchema.parse(await answer.json()) };
    });
    await untilListening();
    await jobs.startWorker();
    expect(await (await audience).json()).toMatchObject({ status: 2, unique_devices: 9, file: [{}, {}] });
    for (const { late, log } of await Promise.all(answers)) {
      process.stdout.write(`responded ${Math.round(late)} ms after the end of the job\n`);
      expect(log).toMatchObject({ status: 2, total_rows: '1' });
      expect(late).toBeLessThan(soonMs);
    }
    expect(await jobs.listeners()).toHaveLength(1);
  });

  it('reports every change to an audience if the client passes the latest tag', async () => {
    const { audienceId } = await jobs.audiences.create('Winter', 'members/1.csv');
    const path = `${audiencePath}/${audienceId}`;
    const seen: number[] = [];
    for (let tag = '"none"', status = 0; status < 2;) {
      const answer = await ask(path, { prefer: 'wait=60', 'if-none-match': tag });
      expect(answer.status).toBe(200);
      ({ status } = audienceDetailsSchema.parse(await answer.json()));
      tag = answer.headers.get('etag') ?? '';
      seen.push(status);
    }
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
    expect(seen.at(-1)).toBe(2);
  });
});
