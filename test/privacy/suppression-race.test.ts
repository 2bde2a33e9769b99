import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ImportMode, keyType, pathType } from '../../src/domain/import-log.ts';
import { postgresRepairRecords } from '../../src/adapters/postgres/repair.ts';
import { changeEntries, suppressionStatus } from '../../src/entry/suppression.ts';
import type { LaneJob, LaneStep } from '../../src/ports/lane-store.ts';
import { finishImport, prepareAudienceLoad, prepareImport, publishLoads } from '../../src/usecases/lane/run-lane.ts';
import { loadBatch } from '../../src/usecases/load/load-batch.ts';
import { type TestPartner, createPartner } from '../support/partners.ts';
import { selectOnShards, stagedLoads } from '../support/shard-tables.ts';
import { silentLog } from '../support/silent-log.ts';
import { places } from '../support/staging-places.ts';
import { type TestStores, createStores, withDatabase } from '../support/stores.ts';
import { type Wired, wireAll } from '../support/wired.ts';

// A device is added to the list while a load is staged and not published yet.

const { signal } = new AbortController();

describe.each(places)('a load, staged in $place, when the suppression list changes', ({ roomBytes }) => {
  let stores: TestStores;
  let partner: TestPartner;
  let deps: Wired & { log: typeof silentLog };
  let devices: string[];
  let listed: string;
  let serial = 0;

  beforeAll(async () => {
    stores = await createStores('two');
    deps = { ...(await wireAll({ ...stores.config, INLET_ROOM_BYTES: roomBytes })), log: silentLog };
  });
  afterAll(async () => {
    await deps.close();
    await stores.drop();
  });
  beforeEach(async () => {
    partner = await createPartner(stores.environment);
    await deps.attributes.create(partner.id, { name: 'sport', foreignKeys: ['sport'] });
    devices = Array.from({ length: 20 }, () => randomUUID());
    listed = devices[0] ?? '';
  });

  const nextStep = (): Promise<LaneStep> =>
    deps.lanes.nextStep({ partnerId: partner.id, id: randomUUID(), retryCount: 0 }, 16);
  const jobFor = async (name: 'prepare' | 'finish'): Promise<LaneJob> => {
    const step = await nextStep();
    if (step.do !== name) throw new Error(`unexpected lane step: ${step.do}`);
    return step.job;
  };
  const importJobFor = async (name: 'prepare' | 'finish') => {
    const job = await jobFor(name);
    if (job.kind !== 'import') throw new Error(`unexpected job: ${job.kind}`);
    return job;
  };
  const upload = async (event: string): Promise<string> => {
    serial += 1;
    await partner.upload(`file-${serial}.csv`, devices.map((id) => `${id},${event}\n`).join(''));
    return `file-${serial}.csv`;
  };
  const prepare = async (mode: ImportMode): Promise<number> => {
    const filePath = await upload('sport');
    const source = { filePath, pathType: pathType.sharedBucket, keyType: keyType.foreignKey, compressed: null };
    const jobId = await deps.importLogs.submitImport(partner.id, { ...source, mode, credentials: null }, 100);
    await prepareImport(deps, await importJobFor('prepare'));
    return jobId;
  };
  const load = async (jobId: number): Promise<void> => {
    const { rows } = await withDatabase(stores, (client) =>
      client.query<{ id: string }>('SELECT id FROM job_file WHERE job_id = $1', [jobId]),
    );
    await loadBatch(deps, Number(rows[0]?.id), signal);
  };
  const publish = async (): Promise<void> => {
    const step = await nextStep();
    if (step.do !== 'publish') throw new Error(`unexpected lane step: ${step.do}`);
    await publishLoads(deps, step);
  };
  const finish = async (): Promise<void> => finishImport(deps, await importJobFor('finish'));
  const record = (jobId: number) => deps.importLogs.find(partner.id, jobId);
  const suppress = () => changeEntries([listed], { isRemoval: false }, stores.config);
  const isIn = async (table: string): Promise<boolean> =>
    (await selectOnShards(stores, `SELECT 1 FROM ${table} WHERE device = '${listed}' LIMIT 1`)).length > 0;

  it('the load is staged again before it is published', async () => {
    const jobId = await prepare('merge');
    await load(jobId);
    await suppress();
    expect((await suppressionStatus(stores.config)).outdatedJobs).toBe(1);
    await publish();
    expect(await isIn('device_attributes_local')).toBe(false);
    expect(await record(jobId)).toMatchObject({ status: 1, totalRows: 0n });
    expect((await suppressionStatus(stores.config)).outdatedJobs).toBe(0);
    await load(jobId);
    await publish();
    await finish();
    expect(await record(jobId)).toMatchObject({ status: 2, totalRows: 20n, uniqueDevices: 20n, errors: null });
    expect(await Promise.all(['device_attributes_local', 'known_devices_local'].map(isIn))).toEqual([false, false]);
    expect(await stagedLoads(stores)).toEqual([]);
  });

  it('the load of a replacing import is staged again before anything is replaced', async () => {
    const jobId = await prepare('replace');
    await load(jobId);
    await publish();
    await suppress();
    await finish();
    expect(await record(jobId)).toMatchObject({ status: 1, totalRows: 0n });
    await load(jobId);
    await publish();
    await finish();
    expect(await record(jobId)).toMatchObject({ status: 2, totalRows: 20n, uniqueDevices: 20n });
    expect(await Promise.all(['device_attributes_local', 'known_devices_local'].map(isIn))).toEqual([false, false]);
    expect(await stagedLoads(stores)).toEqual([]);
  });

  it('does not make a listed device known, even if its rows were already published', async () => {
    const jobId = await prepare('merge');
    await load(jobId);
    await publish();
    await suppress();
    // The rows are stored. They must be erased after the job has ended.
    expect((await suppressionStatus(stores.config)).outdatedJobs).toBe(1);
    await finish();
    expect((await suppressionStatus(stores.config)).outdatedJobs).toBe(0);
    expect(await record(jobId)).toMatchObject({ status: 2, uniqueDevices: 20n });
    expect(await isIn('known_devices_local')).toBe(false);
    expect(await selectOnShards(stores, 'SELECT toString(sum(rows)) FROM load_counts_local')).not.toEqual([]);
  });

  it('the load of an audience is staged again before it is published', async () => {
    const path = { relative: await upload('seen'), literal: null };
    const scope = { partnerId: partner.id, customerId: null };
    const { audienceId } = await deps.audiences.create(scope, { name: 'a', path, maxOpenJobs: 9 });
    const job = await jobFor('prepare');
    if (job.kind !== 'audience') throw new Error(`unexpected job: ${job.kind}`);
    await prepareAudienceLoad(deps, job);
    await load(job.id);
    await suppress();
    await publish();
    expect(await isIn('audience_devices_local')).toBe(false);
    await load(job.id);
    await publish();
    expect(await deps.audiences.find(scope, audienceId)).toMatchObject({ uniqueDevices: 20, uploadedDevices: 20 });
    expect(await isIn('audience_devices_local')).toBe(false);
  });

  it('the load counts as outdated while a repair loads it again', async () => {
    const jobId = await prepare('merge');
    await load(jobId);
    await publish();
    await finish();
    const records = postgresRepairRecords(deps.db);
    const [file] = await records.listFiles({ kind: 'import', jobId });
    if (!file) throw new Error('no file');
    const loadId = await records.startLoad(file, file.loadId, 2);
    expect((await suppressionStatus(stores.config)).outdatedJobs).toBe(0);
    await suppress();
    expect((await records.readSuppression()).version).toBeGreaterThan(file.suppression.version);
    // Jobs of other tests can be open.
    const { outdatedJobs } = await suppressionStatus(stores.config);
    await records.endLoads([loadId]);
    expect((await suppressionStatus(stores.config)).outdatedJobs).toBe(outdatedJobs - 1);
  });

  it('does not start with a list version that was replaced after the load was claimed', async () => {
    const jobId = await prepare('merge');
    await suppress();
    const claim: typeof deps.files.claim = async (batchId) => {
      const claimed = await deps.files.claim(batchId);
      await changeEntries([devices[1] ?? ''], { isRemoval: false }, stores.config);
      return claimed;
    };
    const { rows } = await withDatabase(stores, (client) =>
      client.query<{ id: string }>('SELECT id FROM job_file WHERE job_id = $1', [jobId]),
    );
    const fileId = Number(rows[0]?.id);
    await expect(loadBatch({ ...deps, files: { ...deps.files, claim } }, fileId, signal)).rejects.toThrow(
      'suppression list',
    );
    await load(jobId);
    await publish();
    await finish();
    expect(await record(jobId)).toMatchObject({ status: 2, uniqueDevices: 20n });
    expect(await isIn('device_attributes_local')).toBe(false);
  });
});
