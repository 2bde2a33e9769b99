import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { PgBoss } from 'pg-boss';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { connectPostgres } from '../../src/adapters/postgres/db/connect.ts';
import type { Database } from '../../src/adapters/postgres/db/tables.ts';
import { postgresImportLogStore } from '../../src/adapters/postgres/import-log-store.ts';
import { postgresLaneStore } from '../../src/adapters/postgres/lane/lane-store.ts';
import { postgresPartnerStore } from '../../src/adapters/postgres/partner-store.ts';
import { startBoss } from '../../src/adapters/postgres/queue/queues.ts';
import { laneQueue } from '../../src/adapters/postgres/queue/tokens.ts';
import { aesGcmSealer } from '../../src/adapters/vault/aes-gcm-sealer.ts';
import { Failure } from '../../src/domain/failure.ts';
import { importMode, keyType, logType, pathType } from '../../src/domain/import-log.ts';
import { jobStatus } from '../../src/domain/job.ts';
import { openJobsWithCanceled } from '../../src/domain/limits.ts';
import type { ImportLogStore, NewImport } from '../../src/ports/import-log-store.ts';
import { silentLog } from '../support/silent-log.ts';
import { type TestStores, createPostgresStores } from '../support/stores.ts';

const request = (filePath: string): NewImport => ({
  filePath,
  pathType: pathType.sharedBucket,
  keyType: keyType.foreignKey,
  compressed: null,
  mode: importMode.merge,
  credentials: null,
});
const plenty = 1_000;

describe('the import log store', () => {
  let stores: TestStores;
  let db: Database;
  let boss: PgBoss;
  let importLogs: ImportLogStore;
  let mine: number;
  let theirs: number;

  const newPartner = async (): Promise<number> => {
    const name = `p-${randomBytes(6).toString('hex')}`;
    return (await postgresPartnerStore(db).create({ name, prefix: `${name}/`, keyHash: randomBytes(32) })).id;
  };
  const submitMany = async (partnerId: number, count: number): Promise<number[]> => {
    const ids: number[] = [];
    for (let n = 0; n < count; n++) ids.push(await importLogs.submitImport(partnerId, request(`${n}.csv`), plenty));
    return ids;
  };
  const laneTokensOf = async (partnerId: number): Promise<number> =>
    (await boss.findJobs<{ partnerId: number }>(laneQueue, { data: { partnerId } })).length;

  beforeAll(async () => {
    stores = await createPostgresStores();
    const url = stores.config.INLET_POSTGRES_URL;
    db = connectPostgres({ url, name: 'test', maxConnections: 8, log: silentLog });
    boss = await startBoss({ url, role: 'send', name: 'test', log: silentLog });
    importLogs = postgresImportLogStore(db, boss, aesGcmSealer(stores.config.INLET_SEALING_KEYS));
  });
  afterAll(async () => {
    await boss.stop({ graceful: false });
    await db.destroy();
    await stores.drop();
  });
  beforeEach(async () => {
    mine = await newPartner();
    theirs = await newPartner();
  });

  it('stores the request as a pending import with zero counts', async () => {
    const id = await importLogs.submitImport(mine, { ...request('größe/a b.csv'), compressed: true }, plenty);
    const found = await importLogs.find(mine, id);
    expect(found).toMatchObject({
      importLogId: id,
      filePath: 'größe/a b.csv',
      pathType: pathType.sharedBucket,
      keyType: keyType.foreignKey,
      status: jobStatus.pending,
      logType: logType.import,
      keys: null,
      uniqueDevices: 0n,
      totalRows: 0n,
      errors: null,
    });
    expect(Math.abs(Date.now() - (found?.createdAt.getTime() ?? 0))).toBeLessThan(60_000);
    expect(found?.updatedAt).toEqual(found?.createdAt);
  });

  it('assigns increasing IDs, even to concurrent requests', async () => {
    const ids = await submitMany(mine, 5);
    expect(ids).toEqual(ids.toSorted((one, other) => one - other));
    const atOnce = await Promise.all(
      Array.from({ length: 20 }, (_, n) => importLogs.submitImport(mine, request(`${n}.csv`), plenty)),
    );
    expect(new Set([...ids, ...atOnce]).size).toBe(25);
    expect(Math.min(...atOnce)).toBeGreaterThan(Math.max(...ids));
  });

  it('assigns lane positions in ID order, without gaps', async () => {
    await Promise.all(Array.from({ length: 20 }, (_, n) => importLogs.submitImport(mine, request(`${n}.csv`), plenty)));
    const places = await db.selectFrom('job').select('seq').where('partner_id', '=', mine).orderBy('id').execute();
    expect(places.map(({ seq }) => seq)).toEqual(Array.from({ length: 20 }, (_, n) => n + 1));
  });

  it('sends one lane token for any number of waiting jobs', async () => {
    await submitMany(mine, 3);
    expect(await laneTokensOf(mine)).toBe(1);
    expect(await laneTokensOf(theirs)).toBe(0);
  });

  it('shows a partner only its own import logs', async () => {
    const [own = 0] = await submitMany(mine, 1);
    const [foreign = 0] = await submitMany(theirs, 1);
    expect((await importLogs.find(mine, own))?.importLogId).toBe(own);
    expect(await importLogs.find(mine, foreign)).toBeNull();
    expect(await importLogs.find(theirs, own)).toBeNull();
    expect((await importLogs.listNewest(mine, 10)).map(({ importLogId }) => importLogId)).toEqual([own]);
    expect((await importLogs.listNewest(theirs, 10)).map(({ importLogId }) => importLogId)).toEqual([foreign]);
  });

  it.each([0, -1, 2 ** 40, Number.MAX_SAFE_INTEGER])('finds no import log with the ID %s', async (id) => {
    expect(await importLogs.find(mine, id)).toBeNull();
  });

  it('lists the newest import logs first, up to the maximum response length', async () => {
    const ids = await submitMany(mine, 105);
    const listed = await importLogs.listNewest(mine, 100);
    expect(listed).toHaveLength(100);
    expect(listed.map(({ importLogId }) => importLogId)).toEqual(ids.toReversed().slice(0, 100));
    expect(await importLogs.listNewest(theirs, 100)).toEqual([]);
  });

  it("rejects a job that exceeds the partner's limit on open jobs and stores nothing", async () => {
    for (const n of [1, 2, 3]) await importLogs.submitImport(mine, request(`${n}.csv`), 3);
    await expect(importLogs.submitImport(mine, request('4.csv'), 3)).rejects.toMatchObject({
      code: 'too_many_open_jobs',
    });
    expect(await importLogs.listNewest(mine, 10)).toHaveLength(3);
    expect(await importLogs.submitImport(theirs, request('1.csv'), 3)).toBeGreaterThan(0);
  });

  it('accepts exactly as many concurrent jobs as the limit on open jobs allows', async () => {
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, (_, n) => importLogs.submitImport(mine, request(`${n}.csv`), 7)),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(7);
    expect(await importLogs.listNewest(mine, 100)).toHaveLength(7);
  });

  it('accepts another job after an open job has ended', async () => {
    const id = await importLogs.submitImport(mine, request('1.csv'), 1);
    await expect(importLogs.submitImport(mine, request('2.csv'), 1)).rejects.toMatchObject({
      code: 'too_many_open_jobs',
    });
    await postgresLaneStore(db, boss).failJob(id, new Failure('no_files', 'No object has the path "1.csv".'));
    expect(await importLogs.submitImport(mine, request('2.csv'), 1)).toBeGreaterThan(id);
    expect(await importLogs.find(mine, id)).toMatchObject({
      status: jobStatus.failed,
      errors: [{ code: 'no_files', message: 'No object has the path "1.csv".', file: null, row: null, count: 1 }],
    });
  });

  it('accepts other jobs in place of those canceled before their start, up to a limit on all of them', async () => {
    const first = await importLogs.submitImport(mine, request('first.csv'), 2);
    const canceled: number[] = [];
    for (let n = 1; n < 2 * openJobsWithCanceled; n++) {
      const id = await importLogs.submitImport(mine, request(`${n}.csv`), 2);
      await importLogs.cancel(mine, id, () => ({ is: 'never started' }));
      canceled.push(id);
    }
    expect(await importLogs.find(mine, first)).toMatchObject({ status: jobStatus.pending });
    expect(await importLogs.find(mine, canceled[0] ?? 0)).toMatchObject({ status: jobStatus.pending });
    await expect(importLogs.submitImport(mine, request('next.csv'), 2)).rejects.toMatchObject({
      code: 'too_many_open_jobs',
      detail: 'The partner has 10 open jobs, including canceled ones, which is the limit.',
    });
  });

  it('does not count canceled jobs among the jobs ahead of a waiting job, or in its estimate', async () => {
    const ended = await importLogs.submitImport(mine, request('ended.csv'), plenty);
    await db
      .updateTable('job')
      .set({ status: jobStatus.done, finished_at: sql<Date>`created_at + interval '100 s'` })
      .where('id', '=', ended)
      .execute();
    const [head = 0, canceled = 0, waiting = 0] = await submitMany(mine, 3);
    const progress = async () => (await importLogs.find(mine, waiting))?.progress;
    expect(await progress()).toMatchObject({ queuePosition: 2, secondsLeft: 300 });
    await importLogs.cancel(mine, canceled, () => ({ is: 'never started' }));
    expect(await progress()).toMatchObject({ queuePosition: 1, secondsLeft: 200 });
    await importLogs.cancel(mine, head, () => ({ is: 'never started' }));
    expect(await progress()).toMatchObject({ queuePosition: 0, secondsLeft: 100 });
    // They have ended without running, so they say nothing about how long a job takes.
    await db
      .updateTable('job')
      .set({ status: jobStatus.failed, finished_at: sql<Date>`now()` })
      .where('id', 'in', [head, canceled])
      .execute();
    expect(await progress()).toMatchObject({ queuePosition: 0, secondsLeft: 100 });
  });

  it('rejects an import of a partner that does not exist', async () => {
    await expect(importLogs.submitImport(999_999, request('a.csv'), plenty)).rejects.toThrow(/no result/);
  });
});
