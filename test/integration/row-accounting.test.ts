import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ImportMode, keyType, pathType } from '../../src/domain/import-log.ts';
import type { ImportJob, LaneStep } from '../../src/ports/lane-store.ts';
import { finishImport, prepareImport, publishLoads } from '../../src/usecases/lane/run-lane.ts';
import { loadBatch } from '../../src/usecases/load/load-batch.ts';
import { device } from '../support/device-id.ts';
import { type TestPartner, createPartner } from '../support/partners.ts';
import { attributesOf, commandOnShard, selectOnShards, stagedLoads } from '../support/shard-tables.ts';
import { silentLog } from '../support/silent-log.ts';
import { places } from '../support/staging-places.ts';
import { type TestStores, createStores } from '../support/stores.ts';
import { type Wired, wireAll } from '../support/wired.ts';

const { signal } = new AbortController();
/** Enough devices for both shards. */
const devices = 40;
const lines = (rows: number): string =>
  Array.from({ length: rows }, (_, n) => `${device(n + 1)},sport|news`).join('\n');

describe.each(places)('the rows of an import, staged in $place', ({ roomBytes }) => {
  let stores: TestStores;
  let partner: TestPartner;
  let deps: Wired & { log: typeof silentLog };
  let jobId: number;
  let fileId: number;
  let serial = 0;

  beforeAll(async () => {
    stores = await createStores('two');
    deps = { ...(await wireAll({ ...stores.config, INLET_ROOM_BYTES: roomBytes })), log: silentLog };
  });
  afterAll(async () => {
    await deps.close();
    await stores.drop();
  });

  const nextStep = (): Promise<LaneStep> =>
    deps.lanes.nextStep({ partnerId: partner.id, id: randomUUID(), retryCount: 0 }, 16);
  const importFor = async (name: 'prepare' | 'finish'): Promise<ImportJob> => {
    const step = await nextStep();
    if (step.do !== name || step.job.kind !== 'import') throw new Error(`unexpected lane step: ${step.do}`);
    return step.job;
  };

  /** Submits an import of one file and prepares it. */
  const prepare = async (mode: ImportMode, text: string): Promise<void> => {
    serial += 1;
    const filePath = `file-${serial}.csv`;
    await partner.upload(filePath, text);
    const source = { filePath, pathType: pathType.sharedBucket, keyType: keyType.foreignKey, compressed: null };
    jobId = await deps.importLogs.submitImport(partner.id, { ...source, mode, credentials: null }, 100);
    await prepareImport(deps, await importFor('prepare'));
    fileId = (await file())?.id ?? 0;
  };
  const file = async () =>
    (await deps.importLogs.listFiles(partner.id, jobId, { afterId: 0, limit: 9, onlyWithErrors: false }))[0];
  const record = () => deps.importLogs.find(partner.id, jobId);
  const load = (): Promise<void> => loadBatch(deps, fileId, signal);
  const publish = async (): Promise<void> => {
    const step = await nextStep();
    if (step.do !== 'publish') throw new Error(`unexpected lane step: ${step.do}`);
    await publishLoads(deps, step);
  };
  const finish = async (): Promise<void> => finishImport(deps, await importFor('finish'));
  const stored = async (): Promise<number> => (await attributesOf(stores, partner.id)).length;

  /** Removes the staged rows of the newest load from the second shard. */
  const loseStagedRows = async (): Promise<void> => {
    const loadId = (await stagedLoads(stores))
      .map((name) => Number(/\d+/.exec(name)?.[0]))
      .toSorted((a, b) => b - a)[0];
    await commandOnShard(
      stores,
      1,
      roomBytes === 1
        ? `TRUNCATE TABLE room_${loadId}_rows`
        : `ALTER TABLE staged_attributes_local DROP PARTITION ID '${loadId}'`,
    );
  };

  beforeEach(async () => {
    partner = await createPartner(stores.environment);
    await deps.attributes.create(partner.id, { name: 'sport', foreignKeys: ['sport'] });
    await deps.attributes.create(partner.id, { name: 'news', foreignKeys: ['news'] });
  });

  it('rows are loaded again from the source if a shard lost staged rows', async () => {
    await prepare('merge', `${lines(devices)}\nnonsense,sport\n`);
    await load();
    await loseStagedRows();
    await publish();
    expect(await file()).toMatchObject({ status: 0, totalRows: 0 });
    expect(await stored()).toBe(0);
    await load();
    await publish();
    await finish();
    expect(await file()).toMatchObject({ status: 2, totalRows: devices + 1 });
    expect(await record()).toMatchObject({
      status: 2,
      totalRows: BigInt(devices + 1),
      uniqueDevices: BigInt(devices),
      errors: [{ code: 'invalid_id', count: 1 }],
    });
    expect(await stored()).toBe(2 * devices);
    expect(await stagedLoads(stores)).toEqual([]);
  });

  it('a file fails if rows are missing after every attempt', async () => {
    await prepare('merge', lines(devices));
    for (let attempt = 0; attempt < 4; attempt++) {
      await load();
      await loseStagedRows();
      await publish();
    }
    expect(await file()).toMatchObject({ status: 3, failure: { code: 'rows_missing' } });
    await finish();
    expect(await record()).toMatchObject({ status: 3, uniqueDevices: 0n });
    expect(await stored()).toBe(0);
  });

  it('an attempt fails if a shard did not store all rows', async () => {
    await prepare('merge', lines(devices));
    const { stage } = deps;
    const lossy: typeof stage.countRows = async (given) => {
      await loseStagedRows();
      return stage.countRows(given);
    };
    await expect(loadBatch({ ...deps, stage: { ...stage, countRows: lossy } }, fileId, signal)).rejects.toThrow(
      `${2 * devices} rows were accepted`,
    );
    expect(await file()).toMatchObject({ status: 1, totalRows: 0 });
    await load();
    await publish();
    await finish();
    expect(await record()).toMatchObject({ status: 2 });
    expect(await stored()).toBe(2 * devices);
  });

  it('devices are counted again if some are missing when the job finishes', async () => {
    await prepare('merge', lines(devices));
    await load();
    await publish();
    await commandOnShard(stores, 1, `ALTER TABLE staged_devices_local DROP PARTITION ID '${jobId}'`);
    await finish();
    expect(await record()).toMatchObject({ status: 2, uniqueDevices: BigInt(devices) });
    expect(await selectOnShards(stores, 'SELECT toString(count()) FROM known_devices FINAL')).toContain(
      String(devices),
    );
  });

  it('an import replaces nothing if a shard lost staged rows', async () => {
    await prepare('replace', lines(devices));
    await load();
    await publish();
    await finish();
    expect(await stored()).toBe(2 * devices);
    await prepare('replace', lines(2));
    await load();
    await publish();
    const [loadId] = await selectOnShards(stores, 'SELECT DISTINCT toString(load_id) FROM staged_attributes_local');
    for (const shard of [0, 1]) {
      await commandOnShard(stores, shard, `ALTER TABLE staged_attributes_local DROP PARTITION ID '${loadId}'`);
    }
    await finish();
    expect(await record()).toMatchObject({ status: 3 });
    expect(await stored()).toBe(2 * devices);
  });
});
