import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Failure } from '../../src/domain/failure.ts';
import { keyType, pathType } from '../../src/domain/import-log.ts';
import { createLogger } from '../../src/entry/logging.ts';
import { wire } from '../../src/entry/wiring.ts';
import type { Log } from '../../src/ports/log.ts';
import { giveUpFile } from '../../src/usecases/give-up-file.ts';
import { loadFile } from '../../src/usecases/load-file.ts';
import { prepareImport } from '../../src/usecases/prepare-import.ts';
import { stageFile } from '../../src/usecases/stage-file.ts';
import { attributesOf, selectOnShards } from '../support/below-the-api.ts';
import { createPartner, type TestPartner } from '../support/partners.ts';
import { createStores, withDatabase, type TestStores } from '../support/stores.ts';
import { device } from '../support/device-id.ts';

// What one attempt leaves for the next, step by step: the use cases on the real stores, without a worker process.

const signal = new AbortController().signal;

describe('an attempt to load a file', () => {
  let stores: TestStores;
  let partner: TestPartner;
  let deps: Awaited<ReturnType<typeof wire>> & { log: Log };
  let fileId: number;
  let jobId: number;
  let serial = 0;

  beforeAll(async () => {
    stores = await createStores('two');
    const log = createLogger({ name: 'test', level: 'silent' });
    deps = { ...(await wire(stores.config, { name: 'test', boss: 'send' }, log)), log };
  });
  afterAll(async () => {
    await deps.close();
    await stores.drop();
  });

  /** A job of one file whose turn has come: listed, and nothing loaded yet. */
  beforeEach(async () => {
    partner = await createPartner(stores.environment);
    await deps.attributes.create(partner.id, { name: 'sport', foreignKeys: ['sport'] });
    serial += 1;
    const filePath = `file-${serial}.csv`;
    await partner.upload(filePath, `${device(1)},sport\n${device(2)},sport\n`);
    jobId = await deps.importLogs.submitImport(
      partner.id,
      {
        filePath,
        pathType: pathType.sharedBucket,
        keyType: keyType.foreignKey,
        compressed: null,
        mode: 'merge',
        credentials: null,
      },
      100,
    );
    const step = await deps.lanes.nextStep({ partnerId: partner.id, id: randomUUID(), retryCount: 0 }, 16);
    if (step.do !== 'prepare') throw new Error(`the lane wants to ${step.do}`);
    await prepareImport(deps, step.job);
    fileId =
      (await deps.importLogs.listFiles(partner.id, jobId, { afterId: 0, limit: 1, onlyWithErrors: false }))[0]?.id ?? 0;
  });

  const claim = async () => {
    const claimed = await deps.files.claim(fileId);
    if (!claimed) throw new Error('nothing to claim');
    return claimed;
  };
  const file = async () =>
    (await deps.importLogs.listFiles(partner.id, jobId, { afterId: 0, limit: 1, onlyWithErrors: false }))[0];
  const visible = async (): Promise<number> => (await attributesOf(stores, partner.id)).length;
  const staged = (): Promise<string[]> =>
    selectOnShards(stores, 'SELECT DISTINCT load_id FROM staged_attributes_local');

  it('loads the file and leaves no stage', async () => {
    await loadFile(deps, fileId, signal);
    expect(await file()).toMatchObject({ status: 2, totalRows: 2, failure: null });
    expect(await visible()).toBe(2);
    expect(await staged()).toEqual([]);
  });

  it('that died while it staged is begun anew, and its stage is gone', async () => {
    await stageFile(deps, await claim(), signal);
    await loadFile(deps, fileId, signal);
    expect(await file()).toMatchObject({ status: 2, totalRows: 2 });
    expect(await staged()).toEqual([]);
  });

  it('that died after the load was found good is carried on, although the object has changed since', async () => {
    const dead = await claim();
    await stageFile(deps, dead, signal);
    expect(await deps.files.markStaged(dead)).toBe(true);
    await deps.warehouse.publish(dead.load);
    await partner.upload(`file-${serial}.csv`, 'something else altogether');
    await loadFile(deps, fileId, signal);
    expect(await file()).toMatchObject({ status: 2, totalRows: 2, failure: null });
    expect(await visible()).toBe(2);
    expect(await staged()).toEqual([]);
  });

  it('whose publishing failed is carried on by the next, with all its rows', async () => {
    const failing = { ...deps.warehouse, publish: () => Promise.reject(new Error('the engine is away')) };
    await expect(loadFile({ ...deps, warehouse: failing }, fileId, signal)).rejects.toThrow('away');
    await loadFile(deps, fileId, signal);
    expect(await file()).toMatchObject({ status: 2, totalRows: 2, failure: null });
    expect(await visible()).toBe(2);
    expect(await staged()).toEqual([]);
  });

  it('whose commit was not heard of is carried on by the next, and nothing is lost or doubled', async () => {
    const failing = { ...deps.files, commitLoaded: () => Promise.reject(new Error('the connection is lost')) };
    await expect(loadFile({ ...deps, files: failing }, fileId, signal)).rejects.toThrow('lost');
    await loadFile(deps, fileId, signal);
    expect(await file()).toMatchObject({ status: 2, totalRows: 2, failure: null });
    expect(await visible()).toBe(2);
    expect(await staged()).toEqual([]);
  });

  it('that died before, of an object that has changed since, fails the file and shows nothing', async () => {
    await stageFile(deps, await claim(), signal);
    await partner.upload(`file-${serial}.csv`, 'something else altogether');
    await loadFile(deps, fileId, signal);
    expect(await file()).toMatchObject({ status: 3, failure: { code: 'file_changed' } });
    expect(await visible()).toBe(0);
    expect(await staged()).toEqual([]);
  });

  it('that only seemed dead can neither decide, publish nor commit after another took over', async () => {
    const zombie = await claim();
    await stageFile(deps, zombie, signal);
    const taker = await claim();
    expect(taker.previousLoadId).toBe(zombie.load.loadId);
    await deps.warehouse.dropLoad(zombie.load.loadId);
    expect(await deps.files.markStaged(zombie)).toBe(false);
    await deps.warehouse.publish(zombie.load);
    expect(await visible()).toBe(0);
    expect(await deps.files.commitLoaded(zombie, { accepted: 2, rejects: [] })).toBe(false);
    expect(await file()).toMatchObject({ status: 1, totalRows: 0 });
  });

  it('is not given up once the load was found good', async () => {
    const dead = await claim();
    await stageFile(deps, dead, signal);
    await deps.files.markStaged(dead);
    await giveUpFile(deps, fileId);
    expect(await file()).toMatchObject({ status: 2, totalRows: 2 });
    expect(await visible()).toBe(2);
  });

  it('is given up with a failure before that, and wakes the lane', async () => {
    await stageFile(deps, await claim(), signal);
    await giveUpFile(deps, fileId);
    expect(await file()).toMatchObject({ status: 3, failure: { code: 'load_abandoned' } });
    expect(await staged()).toEqual([]);
    const tokens = await withDatabase(stores, (client) =>
      client.query(`SELECT 1 FROM pgboss.job WHERE name = 'lane' AND singleton_key = $1 AND state = 'created'`, [
        String(partner.id),
      ]),
    );
    expect(tokens.rowCount).toBe(1);
  });

  it('goes on when another holder of the lane finds no files any more: a started job cannot fail to start', async () => {
    await deps.lanes.failJob(jobId, new Failure('no_files', 'No object has the path.'));
    expect(await deps.importLogs.find(partner.id, jobId)).toMatchObject({ status: 1, errors: null });
    await loadFile(deps, fileId, signal);
    expect(await file()).toMatchObject({ status: 2 });
  });

  it('finds nothing to do when the file is done', async () => {
    await loadFile(deps, fileId, signal);
    expect(await deps.files.claim(fileId)).toBeNull();
    await loadFile(deps, fileId, signal);
    expect(await visible()).toBe(2);
  });
});
