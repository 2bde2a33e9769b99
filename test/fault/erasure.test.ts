import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import { deletionSchema, proofSchema } from '../../src/adapters/http/records/deletion.ts';
import { recordPoints } from '../../src/entry/failpoints.ts';
import { type ApiClient, apiClient } from '../acceptance/api-client.ts';
import { audienceClient } from '../acceptance/audience-client.ts';
import { device } from '../support/device-id.ts';
import { type TestPartner, createPartner } from '../support/partners.ts';
import { deleteReplacedPartsSoon } from '../support/replaced-parts.ts';
import { type ServiceProcess, startApi, startProcess, startWorker, stopProcess } from '../support/running-service.ts';
import { selectOnShards } from '../support/shard-tables.ts';
import { type TestStores, createStores, withDatabase } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';

// Kills a worker at every point between two side effects of an erasure. Another worker continues the batch.

/**
 * Methods that are called every second, with or without a batch, or only occasionally. The points of neighboring
 * methods cover them.
 */
const polled: ReadonlySet<string> = new Set(['erasureQueue.claim', 'erasureQueue.renew', 'erasureQueue.postpone']);

/**
 * The gate kills workers at this number of points, spread evenly over the list. The long run kills workers at all
 * points.
 */
const pointsInGate = 3;
/** The maximum number of points in a long run. Each point needs a device. */
const maxPoints = 120;

describe('a worker that is killed while it erases devices', () => {
  let stores: TestStores;
  let environment: Record<string, string>;
  let partner: TestPartner;
  let api: ServiceProcess & { readonly url: string };
  let client: ApiClient;
  let points: readonly string[] = [];
  let erased = 0;

  beforeAll(async () => {
    stores = await createStores('two');
    await deleteReplacedPartsSoon(stores);
    environment = stores.environment;
    partner = await createPartner(environment);
    await partner.createAttribute('sports', 'sports');
    api = await startApi(environment, 'erasure');
    client = apiClient(api.url, partner.apiKey);
  });
  afterAll(async () => {
    await stopProcess(api.child);
    await stores.drop();
  });

  /** Adds rows with every device to an attribute, to the rejected rows, and to an audience. */
  const importDevices = async (): Promise<void> => {
    const devices = Array.from({ length: maxPoints }, (_, index) => device(index));
    await partner.upload('in.csv', devices.map((id) => `${id},sports\n${id},unknown\n`).join(''));
    await client.waitForEnd(await client.queue({ file_path: 'in.csv', key_type: 1 }));
    await partner.upload('members.csv', devices.map((id) => `${id},buy\n`).join(''));
    const audiences = audienceClient(api.url, partner.apiKey);
    const { audienceId } = await audiences.create('buyers', 'members.csv');
    await audiences.settled(audienceId);
    await waitUntil('the index is up to date', () =>
      withDatabase(stores, async (db) => (await db.query('SELECT FROM index_change LIMIT 1')).rowCount === 0),
    );
  };
  /** Requests the deletion of a device that has not been deleted yet. */
  const request = async (): Promise<{ readonly id: number; readonly deleted: string }> => {
    const deleted = device(erased);
    erased += 1;
    const body = JSON.stringify({ ids: [deleted] });
    const answer = await client.request('/v1/privacy/deletions', { method: 'POST', body });
    return { id: z.object({ deletion_id: z.int() }).parse(await answer.json()).deletion_id, deleted };
  };
  const untilDone = async (id: number): Promise<void> => {
    await waitUntil(`deletion ${id} is done`, async () => {
      // The claim of a dead worker expires after 15 seconds.
      const read = await (await client.request(`/v1/privacy/deletions/${id}`)).json();
      return deletionSchema.parse(read).status === 2;
    });
  };
  const expireClaim = (): Promise<unknown> =>
    withDatabase(stores, (db) => db.query(`UPDATE erasure_batch SET claimed_until = now() - interval '1 second'`));

  /** Returns what is wrong with the proof of a deletion, and which tables still contain its device. */
  const findWrong = async (id: number, deleted: string): Promise<string[]> => {
    const answer = await client.request(`/v1/privacy/deletions/${id}/proof`);
    const proof = proofSchema.parse(await answer.json());
    const wrong: string[] = [];
    for (const table of ['device_attributes', 'audience_devices', 'load_rejects']) {
      const counts = proof.erased.filter((one) => one.table === table).map(({ rows_erased: rows }) => rows);
      const rows = counts.reduce((sum, one) => sum + one, 0);
      if (rows !== 1) wrong.push(`the proof has ${rows} erased rows of ${table}`);
    }
    if (proof.remaining.length === 0) wrong.push('the proof has no counts of remaining rows');
    for (const table of ['device_attributes', 'audience_devices', 'known_devices', 'device_numbers', 'erased_devices'])
      wrong.push(
        ...(await selectOnShards(stores, `SELECT '${table}' FROM ${table}_local WHERE device = '${deleted}'`)),
      );
    wrong.push(
      ...(await selectOnShards(stores, `SELECT text FROM load_rejects_local WHERE startsWith(text, '${deleted}')`)),
      ...(await selectOnShards(stores, `SELECT concat('list ', toString(batch_id)) FROM erased_devices_local`)),
    );
    return wrong;
  };
  const pointsOf = ({ logFile }: ServiceProcess): string[] => [
    ...new Set(
      readFileSync(logFile, 'utf8')
        .split('\n')
        .flatMap((line) => /"point":"([^"]+)","msg":"point"/.exec(line)?.[1] ?? []),
    ),
  ];

  it('every step of a batch has failpoints', async () => {
    const recorder = await startWorker({ ...environment, INLET_FAILPOINT: recordPoints }, 'erasure-recorder');
    await importDevices();
    const { id, deleted } = await request();
    await untilDone(id);
    await stopProcess(recorder.child);
    expect(await findWrong(id, deleted)).toEqual([]);
    points = pointsOf(recorder).filter((point) => {
      const [, method = ''] = /^(?:before|after|in) (erasure[a-zA-Z.]+)/.exec(point) ?? [];
      return method !== '' && !polled.has(method);
    });
    for (const statement of ['DELETE', 'INSERT', 'DROP'])
      expect(points).toContainEqual(expect.stringContaining(statement));
    expect(points.length).toBeGreaterThan(40);
    expect(points.length).toBeLessThan(maxPoints);
  });

  it(
    'leaves a batch that another worker completes, with a correct proof and no remaining row of the device',
    { timeout: 7_200_000 },
    async () => {
      const count = inject('campaign') === 'long' ? points.length : pointsInGate;
      const chosen = points.filter(
        (_, index) => Math.floor(((index + 1) * count) / points.length) > Math.floor((index * count) / points.length),
      );
      const failed: { readonly point: string; readonly wrong: readonly string[] }[] = [];
      const notPassed: string[] = [];
      for (const point of chosen) {
        const start = performance.now();
        const { id, deleted } = await request();
        const victim = startProcess('worker', { ...environment, INLET_FAILPOINT: point }, 'erasure-victim');
        const late = new AbortController();
        const ended = await Promise.race([
          once(victim.child, 'exit').then(() => 'killed'),
          pause(60_000, 'late', { signal: late.signal }).catch(() => 'killed'),
        ]);
        late.abort();
        if (ended !== 'killed') notPassed.push(point);
        await stopProcess(victim.child);
        await expireClaim();
        const other = await startWorker(environment, 'erasure-other');
        await untilDone(id);
        await stopProcess(other.child);
        const wrong = await findWrong(id, deleted);
        if (wrong.length > 0) failed.push({ point, wrong });
        const seconds = ((performance.now() - start) / 1000).toFixed(1);
        process.stdout.write(`erasure: ${wrong.length === 0 ? 'ok' : 'WRONG'} after ${seconds} s, ${point}\n`);
      }
      expect(failed).toEqual([]);
      expect(notPassed).toEqual([]);
      expect(await partner.operate('index', 'verify')).toBe('the device index equals the rows\n');
    },
  );
});
