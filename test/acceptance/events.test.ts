import { importLogSchema, type ImportLogRecord } from '../../src/adapters/http/records/import-log.ts';
import { audienceDetailsSchema } from '../../src/adapters/http/records/audience.ts';
import { problemSchema } from '../../src/adapters/http/records/problem.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packedRows } from '../support/file-rows.ts';
import { readEvents, type ReadStream } from '../support/event-stream.ts';
import { startProxy, type Proxy } from '../support/proxy.ts';
import { waitUntil } from '../support/wait-until.ts';
import { startWaitingJobs, type WaitingJobs } from '../support/waiting-jobs.ts';
import { readProblem } from './api-client.ts';
import { audiencePath } from './audience-client.ts';

const rows = 3_000_000;

describe('event streams', () => {
  let jobs: WaitingJobs;
  let storage: Proxy;

  beforeAll(async () => {
    jobs = await startWaitingJobs('events', { INLET_MAX_FOLLOWERS_PER_PARTNER: '3' });
    storage = await startProxy(jobs.stores.environment['INLET_S3_ENDPOINT'] ?? '');
  });
  afterAll(async () => {
    await jobs.stop();
    await storage.close();
  });

  const pathOf = (id: number): string => `/v1/marketplace/import/${id}/events`;
  async function open(path: string, headers: Record<string, string> = {}, signal?: AbortSignal): Promise<ReadStream> {
    const answer = await jobs.api.request(path, { headers, ...(signal ? { signal } : {}) });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(answer.headers.get('cache-control')).toBe('private, no-cache');
    return readEvents(answer);
  }
  const logsOf = ({ events }: ReadStream): ImportLogRecord[] =>
    events.map(({ data }) => importLogSchema.strict().parse(JSON.parse(data)));

  it('an event stream starts with the current record and the tag that GET returns', async () => {
    const id = await jobs.queue();
    const stop = new AbortController();
    const stream = await open(pathOf(id), {}, stop.signal);
    await waitUntil('an event has arrived', () => Promise.resolve(stream.events.length > 0));
    const answer = await jobs.api.request(`/v1/marketplace/import/${id}`);
    const [first] = stream.events;
    expect(first?.event).toBe('progress');
    expect(`W/"${first?.id}"`).toBe(answer.headers.get('etag'));
    expect(JSON.parse(first?.data ?? '')).toEqual(await answer.json());
    stop.abort();
    await expect(stream.ended).rejects.toThrow(/abort/i);
    await jobs.cancel(id);
  });

  it('an event stream is rejected without a key, for an unknown record, and with another method', async () => {
    const id = await jobs.queue();
    const stranger = await jobs.api.request(pathOf(id), { headers: { authorization: 'Bearer x' } });
    const missing = await jobs.api.request(pathOf(999_999));
    const head = await jobs.api.request(pathOf(id), { method: 'HEAD' });
    const post = await jobs.api.request(pathOf(id), { method: 'POST', body: '{}' });
    expect([stranger.status, missing.status, head.status, post.status]).toEqual([401, 404, 405, 405]);
    for (const answer of [stranger, missing, post]) problemSchema.strict().parse(await readProblem(answer));
    await jobs.cancel(id);
  });

  it('an event stream counts toward a limit until it is closed, and a wait over the limit returns immediately', async () => {
    const id = await jobs.queue();
    const leaving = new AbortController();
    const streams = await Promise.all(
      [undefined, undefined, leaving.signal].map((signal) => open(pathOf(id), {}, signal)),
    );
    const rejected = await jobs.api.request(pathOf(id));
    expect(rejected.status).toBe(429);
    expect(rejected.headers.has('retry-after')).toBe(true);
    expect(problemSchema.strict().parse(await readProblem(rejected)).code).toBe('too_many_streams');
    const waiting = await jobs.api.request(`/v1/marketplace/import/${id}`, { headers: { prefer: 'wait=60' } });
    expect([waiting.status, waiting.headers.has('preference-applied')]).toEqual([200, false]);

    leaving.abort();
    let next: ReadStream | undefined;
    await waitUntil('a slot is free', async () => {
      const answer = await jobs.api.request(pathOf(id));
      if (answer.status === 200) next = readEvents(answer);
      else await answer.text();
      return answer.status === 200;
    });
    await jobs.cancel(id);
    const [one, other] = streams;
    for (const stream of [one, other, next]) {
      await stream?.ended;
      expect(stream?.events.at(-1)?.event).toBe('done');
    }
    await expect(streams[2]?.ended).rejects.toThrow(/abort/i);
  });

  it('sends only `done` for a finished record and returns 204 if the client already has the record', async () => {
    const id = await jobs.queue();
    await jobs.cancel(id);
    const stream = await open(pathOf(id));
    await stream.ended;
    expect(stream.events.map(({ event }) => event)).toEqual(['done']);
    const known = stream.events[0]?.id ?? '';
    const again = await jobs.api.request(pathOf(id), { headers: { 'last-event-id': known } });
    expect([again.status, await again.text()]).toEqual([204, '']);
    const other = await open(pathOf(id), { 'last-event-id': 'another' });
    await other.ended;
    expect(other.events.map(({ event }) => event)).toEqual(['done']);
  });

  it('does not repeat the event that Last-Event-ID identifies', async () => {
    const id = await jobs.queue();
    const tag = (await jobs.api.request(`/v1/marketplace/import/${id}`)).headers.get('etag') ?? '';
    const stream = await open(pathOf(id), { 'last-event-id': tag.slice(3, -1) });
    await jobs.cancel(id);
    await stream.ended;
    expect(stream.events.map(({ event }) => event)).toEqual(['done']);
  });

  it(
    'reports only forward progress, at most about once per second, and ends with `done`',
    { timeout: 180_000 },
    async () => {
      const file = await packedRows(rows, 'sport');
      await jobs.partner.upload('large.csv.gz', file);
      // The throttled download takes eight seconds, even on a fast machine.
      storage.make({ is: 'slow', bytesPerSecond: file.length / 8 });
      const id = await jobs.api.queue({ file_path: 'large.csv.gz', key_type: 1 });
      const { audienceId } = await jobs.audiences.create('Summer', 'members/');
      const stream = await open(pathOf(id));
      const audience = await open(`${audiencePath}/${audienceId}/events`);
      await jobs.startWorker({ INLET_S3_ENDPOINT: storage.address });
      await stream.ended;
      const late = await jobs.sinceEnd(id);
      await audience.ended;

      const { events } = stream;
      expect(new Set(events.map(({ id: tag }) => tag)).size).toBe(events.length);
      expect(events.map(({ event }) => event)).toEqual([...events.slice(1).map(() => 'progress'), 'done']);
      const logs = logsOf(stream);
      for (const pick of [
        (log: ImportLogRecord) => log.status,
        (log: ImportLogRecord) => log.progress.percent,
        (log: ImportLogRecord) => log.progress.bytes_read,
        (log: ImportLogRecord) => log.progress.rows_read,
        (log: ImportLogRecord) => Number(log.total_rows),
      ]) {
        const values = logs.map(pick);
        expect(values).toEqual(values.toSorted((a, b) => a - b));
      }
      expect(logs.at(-1)).toMatchObject({ status: 2, unique_devices: String(rows), progress: { percent: 100 } });
      expect(logs.filter(({ progress }) => progress.percent > 0 && progress.percent < 100).length).toBeGreaterThan(1);
      const between = events.slice(1, -1).map(({ at }, index) => at - (events[index]?.at ?? 0));
      // Events are sent a second apart. A busy reader can receive two events at once.
      expect(between.reduce((sum, ms) => sum + ms, 0)).toBeGreaterThan((between.length - 1) * 900);
      expect(late).toBeLessThan(10_000);

      const details = audience.events.map(({ data }) => audienceDetailsSchema.strict().parse(JSON.parse(data)));
      expect(details.at(-1)).toMatchObject({ status: 2, unique_devices: 9 });
      expect(details.map(({ status }) => status)).toEqual(
        details.map(({ status }) => status).toSorted((a, b) => a - b),
      );
      expect(audience.events.at(-1)?.event).toBe('done');
    },
  );

  it('an event stream is also available for an audience at the deprecated path', async () => {
    const [audience] = await jobs.audiences.list();
    const answer = await jobs.api.request(`/v1/firstparty/audience/${audience?.audience_id}/events`);
    expect(answer.headers.has('deprecation')).toBe(true);
    const stream = readEvents(answer);
    await stream.ended;
    expect(stream.events.map(({ event }) => event)).toEqual(['done']);
  });
});
