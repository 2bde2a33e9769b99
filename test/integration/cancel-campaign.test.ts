import * as fc from 'fast-check';
import { sql } from 'kysely';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { importFileListSchema, queuedSchema } from '../../src/adapters/http/records/import-log.ts';
import { type ApiClient, apiClient } from '../acceptance/api-client.ts';
import { type AudienceClient, audienceClient } from '../acceptance/audience-client.ts';
import { campaignSeed, runsOf } from '../support/campaign.ts';
import { device } from '../support/device-id.ts';
import { leftovers } from '../support/leftovers.ts';
import { type TestPartner, createPartner } from '../support/partners.ts';
import { runOperator } from '../support/run-operator.ts';
import { type Service, startService, startWorker, stopProcess } from '../support/running-service.ts';
import { attributesOf, selectOnShards } from '../support/shard-tables.ts';
import { type TestStores, createStores } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';
import { type Wired, wireUp } from '../support/wired.ts';

// Partners cancel import loads and audience loads at random moments over HTTP and then retry what failed. Two workers
// load the files, some in shared staging tables and some in their own tables.

const moments = runsOf({ short: 10, long: 200 });
const lanes = inject('campaign') === 'long' ? 4 : 2;

type File = { readonly rows: number };
type Attempt = {
  readonly group: 'import' | 'audience';
  readonly files: readonly File[];
  /** The state that the caller waits for before it cancels, and how many milliseconds it waits after that. */
  readonly from: 'submitted' | 'started' | 'first file loaded';
  readonly after: number;
  /** The milliseconds until a second caller also cancels. Null if there is no second caller. */
  readonly again: number | null;
  readonly retries: 'all' | 'failed';
};

const file = fc.oneof(
  { weight: 2, arbitrary: fc.record({ rows: fc.integer({ min: 1, max: 40 }) }) },
  // About 1.5 MB, which is loaded alone.
  { weight: 1, arbitrary: fc.constant({ rows: 30_000 }) },
);
const attempt: fc.Arbitrary<Attempt> = fc.record({
  group: fc.constantFrom('import', 'audience'),
  files: fc.array(file, { minLength: 1, maxLength: 4 }),
  from: fc.constantFrom('submitted', 'started', 'first file loaded'),
  after: fc.oneof(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 0, max: 200 })),
  again: fc.option(fc.integer({ min: 0, max: 50 })),
  retries: fc.constantFrom('all', 'failed'),
});

const attempts = fc.sample(attempt, { seed: campaignSeed, numRuns: moments });
const perTest = 50;
const slices = Array.from({ length: Math.ceil(moments / perTest) }, (_, n) => {
  const some = attempts.slice(n * perTest, (n + 1) * perTest);
  return { first: n * perTest + 1, last: n * perTest + some.length, some };
});

type Caller = {
  readonly partner: TestPartner;
  readonly api: ApiClient;
  readonly audiences: AudienceClient;
  readonly attribute: number;
  readonly audienceId: number;
};

describe('loads that are canceled at random moments and retried', () => {
  let stores: TestStores;
  let deps: Wired;
  let service: Service;
  let second: Awaited<ReturnType<typeof startWorker>>;
  const callers: Caller[] = [];
  const outcomes = { canceled: 0, partly: 0, tooLate: 0, retried: 0 };

  beforeAll(async () => {
    stores = await createStores('two');
    deps = await wireUp(stores);
    const environment = { ...stores.environment, INLET_ROOM_BYTES: '1000000' };
    service = await startService(environment, 'cancel-campaign');
    second = await startWorker(environment, 'cancel-campaign');
    for (let n = 0; n < lanes; n += 1) {
      const partner = await createPartner(stores.environment);
      const attribute = await partner.createAttribute('sport', 'sport');
      const audiences = audienceClient(service.url, partner.apiKey);
      await partner.upload('first.csv', `${device(1)},\n`);
      const { audienceId } = await audiences.create('All', 'first.csv');
      await audiences.settled(audienceId);
      callers.push({ partner, api: apiClient(service.url, partner.apiKey), audiences, attribute, audienceId });
    }
  }, 120_000);
  afterAll(async () => {
    await stopProcess(second.child);
    await service.stop();
    await deps.close();
    await stores.drop();
  });

  let serial = 0;
  const upload = async (
    { partner }: Caller,
    { group, files }: Attempt,
  ): Promise<{ folder: string; ids: string[][] }> => {
    serial += 1;
    const folder = `${serial}/`;
    let next = serial * 200_000;
    const ids = files.map(({ rows }) => Array.from({ length: rows }, () => device(next++)));
    const value = group === 'import' ? 'sport' : '';
    for (const [n, own] of ids.entries())
      await partner.upload(`${folder}${n}.csv`, own.map((id) => `${id},${value}\n`).join(''));
    return { folder, ids };
  };

  const visibleOf = async (
    { partner, attribute, audienceId }: Caller,
    group: Attempt['group'],
  ): Promise<Set<string>> => {
    if (group === 'import') {
      const pairs = await attributesOf(stores, partner.id);
      return new Set(pairs.map((pair) => pair.slice(`${attribute} `.length)));
    }
    return new Set(
      await selectOnShards(
        stores,
        `SELECT toString(device) FROM audience_devices_local FINAL
         WHERE partner_id = ${partner.id} AND audience_id = ${audienceId} AND generation = 0`,
      ),
    );
  };

  /** Every file is completely visible if it is loaded, and not visible at all otherwise. */
  const expectWholeFiles = async (
    caller: Caller,
    { group }: Attempt,
    ids: readonly string[][],
    loaded: readonly boolean[],
  ): Promise<void> => {
    const visible = await visibleOf(caller, group);
    const counts = ids.map((own) => own.filter((id) => visible.has(id)).length);
    expect(counts).toEqual(ids.map((own, n) => (loaded[n] === true ? own.length : 0)));
  };

  const hasReached = async (jobId: number, from: Attempt['from']): Promise<boolean> => {
    const { rows } = await sql<{ reached: boolean }>`
      SELECT status > 1 OR listed_at IS NOT NULL AND (${from} = 'started' OR EXISTS (
        SELECT FROM job_file f WHERE f.job_id = job.id AND f.status = 2)) AS reached
      FROM job WHERE id = ${jobId}`.execute(deps.db);
    return rows[0]?.reached ?? false;
  };
  const twice = async (jobId: number, given: Attempt, cancel: () => Promise<boolean>): Promise<boolean> => {
    if (given.from !== 'submitted')
      await waitUntil(`job ${jobId} has reached "${given.from}"`, () => hasReached(jobId, given.from), 120, 10);
    await pause(given.after);
    const first = cancel();
    if (given.again === null) return first;
    await pause(given.again);
    const [one, other] = await Promise.all([first, cancel()]);
    return one || other;
  };
  const note = (isCanceled: boolean, loaded: readonly boolean[]): void => {
    if (!isCanceled) outcomes.tooLate += 1;
    else if (loaded.some(Boolean)) outcomes.partly += 1;
    else outcomes.canceled += 1;
  };

  const tryImport = async (caller: Caller, given: Attempt): Promise<void> => {
    const { api } = caller;
    const { folder, ids } = await upload(caller, given);
    const post = (id: number, action: string, body: object = {}): Promise<Response> =>
      api.request(`/v1/marketplace/import/${id}/${action}`, { method: 'POST', body: JSON.stringify(body) });
    const loadedBy = async (id: number): Promise<Map<string, boolean>> => {
      const files = importFileListSchema.parse(await (await api.request(`/v1/marketplace/import/${id}/files`)).json());
      return new Map(files.map(({ file: path, status }) => [path, status === 2]));
    };
    const id = await api.queue({ file_path: folder, key_type: 1, compressed: false });
    const isCanceled = await twice(id, given, async () => (await post(id, 'cancel')).status === 204);
    const log = await api.waitForEnd(id);
    expect(log.status).toBe(isCanceled ? 3 : 2);
    expect(log.cancel_requested_by).toBe(isCanceled ? 'partner' : null);
    const statuses = await loadedBy(id);
    const loaded = ids.map((_, n) => statuses.get(`${folder}${n}.csv`) === true);
    note(isCanceled, loaded);
    await expectWholeFiles(caller, given, ids, loaded);
    if (!isCanceled) return;
    const answer = await post(id, 'retry', { files: given.retries });
    expect(answer.status).toBe(202);
    const again = queuedSchema.parse(await answer.json()).import_log_id;
    expect(await api.waitForEnd(again)).toMatchObject({ status: 2, retry_of: id });
    const isOnlyFailed = given.retries === 'failed' && statuses.size > 0;
    const retried = ids.map((_, n) => `${folder}${n}.csv`).filter((_, n) => !isOnlyFailed || loaded[n] !== true);
    // Small files are listed before large ones.
    expect([...(await loadedBy(again)).keys()].toSorted()).toEqual(retried);
    outcomes.retried += 1;
    await expectWholeFiles(
      caller,
      given,
      ids,
      ids.map(() => true),
    );
  };

  const tryAudience = async (caller: Caller, given: Attempt): Promise<void> => {
    const { audiences, audienceId, partner } = caller;
    const { folder, ids } = await upload(caller, given);
    const before = await audiences.get(audienceId);
    await audiences.append(audienceId, folder);
    const [newest] = await audiences.history(audienceId, '?limit=1');
    const appendId = newest?.append?.append_id ?? 0;
    const isCanceled = await twice(appendId, given, () => audiences.cancel(audienceId, appendId));
    const after = await audiences.settled(audienceId);
    const entries = new Map(after.file.map(({ s3_path, status }) => [s3_path, status]));
    const loaded = ids.map((_, n) => entries.get(`${partner.prefix}${folder}${n}.csv`) === 2);
    note(isCanceled, loaded);
    expect(after.status).toBe(isCanceled ? 3 : 2);
    await expectWholeFiles(caller, given, ids, loaded);
    const added = ids.reduce((sum, own, n) => (loaded[n] ? sum + own.length : sum), 0);
    expect(after.unique_devices).toBe(before.unique_devices + added);
    expect(after.uploaded_devices).toBe(before.uploaded_devices + added);
    if (isCanceled) {
      await audiences.retry(audienceId, appendId, given.retries);
      outcomes.retried += 1;
    }
    const all = ids.flat().length;
    expect(await audiences.settled(audienceId)).toMatchObject({
      status: 2,
      unique_devices: before.unique_devices + all,
      uploaded_devices: before.uploaded_devices + all,
    });
    await expectWholeFiles(
      caller,
      given,
      ids,
      ids.map(() => true),
    );
  };

  it.each(slices)(
    'canceled loads load every file completely or not at all: moments $first to $last',
    { timeout: 3_600_000 },
    async ({ some }) => {
      const queue = some.values();
      // After a failure, the other callers finish first, so that they do not disturb the next test.
      const ended = await Promise.allSettled(
        callers.map(async (caller) => {
          for (const given of queue) {
            const run = given.group === 'import' ? tryImport : tryAudience;
            await run(caller, given).catch((error: unknown) => {
              throw new Error(`partner ${caller.partner.id}: ${JSON.stringify(given)}`, { cause: error });
            });
          }
        }),
      );
      for (const result of ended) if (result.status === 'rejected') throw result.reason;
      process.stdout.write(`cancel campaign, seed ${campaignSeed}: ${JSON.stringify(outcomes)}\n`);
      expect(outcomes.retried).toBeGreaterThan(0);
    },
  );

  it(
    'canceled loads leave nothing behind, and every record agrees with the stored rows',
    { timeout: 300_000 },
    async () => {
      expect(await leftovers(deps, stores)).toEqual([]);
      const { code, out } = await runOperator(stores.environment, ['audit']);
      expect([code, out]).toEqual([0, expect.stringContaining(' 0 with differences')]);
    },
  );
});
