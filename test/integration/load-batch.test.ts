import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Failure } from '../../src/domain/failure.ts';
import { keyType, pathType } from '../../src/domain/import-log.ts';
import { createLogger } from '../../src/entry/logging.ts';
import type { LaneStep } from '../../src/ports/lane-store.ts';
import { isTakenOver } from '../../src/usecases/lane/decide-next-step.ts';
import type { FileOutcome } from '../../src/ports/load-stage.ts';
import type { ObjectStore } from '../../src/ports/object-store.ts';
import type { Log } from '../../src/ports/observability.ts';
import { prepareImport, publishLoads } from '../../src/usecases/lane/run-lane.ts';
import { abandonBatch, loadBatch, stageBatch } from '../../src/usecases/load/load-batch.ts';
import { device } from '../support/device-id.ts';
import { type TestPartner, createPartner } from '../support/partners.ts';
import { attributesOf, stagedLoads } from '../support/shard-tables.ts';
import { places } from '../support/staging-places.ts';
import { type TestStores, createStores, withDatabase } from '../support/stores.ts';
import { wireAll } from '../support/wired.ts';

// Tests the state that each attempt to load a file leaves for the next attempt. Runs the use cases on the real stores
// without a worker process.

const signal = new AbortController().signal;

describe.each(places)('loading a file, staged in $place', ({ roomBytes }) => {
  let stores: TestStores;
  let partner: TestPartner;
  let deps: Awaited<ReturnType<typeof wireAll>> & { log: Log };
  let fileId: number;
  let jobId: number;
  let serial = 0;

  beforeAll(async () => {
    stores = await createStores('two');
    const log = createLogger({ name: 'test', level: 'silent' });
    deps = {
      ...(await wireAll({ ...stores.config, INLET_ROOM_BYTES: roomBytes })),
      log,
    };
  });
  afterAll(async () => {
    await deps.close();
    await stores.drop();
  });

  /** Creates a job with one file and starts it. The file is listed but not loaded yet. */
  beforeEach(async () => {
    partner = await createPartner(stores.environment);
    await deps.attributes.create(partner.id, { name: 'sport', foreignKeys: ['sport'] });
    serial += 1;
    const filePath = `file-${serial}.csv`;
    await partner.upload(filePath, `${device(1)},sport\n${device(2)},sport\n`);
    await prepare(filePath, null);
  });

  const prepare = async (filePath: string, compressed: boolean | null): Promise<void> => {
    jobId = await deps.importLogs.submitImport(
      partner.id,
      {
        filePath,
        pathType: pathType.sharedBucket,
        keyType: keyType.foreignKey,
        compressed,
        mode: 'merge',
        credentials: null,
      },
      100,
    );
    const step = await nextStep();
    if (step.do !== 'prepare' || step.job.kind !== 'import') throw new Error(`unexpected lane step: ${step.do}`);
    await prepareImport(deps, step.job);
    fileId = (await file())?.id ?? 0;
  };

  const nextStep = (): Promise<LaneStep> =>
    deps.lanes.nextStep({ partnerId: partner.id, id: randomUUID(), retryCount: 0 }, 16);
  const takeStaged = async () => {
    const step = await nextStep();
    if (step.do !== 'publish') throw new Error(`unexpected lane step: ${step.do}`);
    return step;
  };
  /** Publishes staged loads as the holder of the lane does. */
  const publishStaged = async (holder: typeof deps = deps): Promise<void> => {
    await publishLoads(holder, await takeStaged());
  };
  const claim = async () => {
    const claimed = await deps.files.claim(fileId);
    if (!claimed) throw new Error('nothing to claim');
    return claimed;
  };
  const good = (): FileOutcome => ({ is: 'staged', fileId, counts: { accepted: 2, rejects: [] } });
  const listed = () => deps.importLogs.listFiles(partner.id, jobId, { afterId: 0, limit: 9, onlyWithErrors: false });
  const file = async () => (await listed())[0];
  const visible = async (): Promise<number> => (await attributesOf(stores, partner.id)).length;
  const staged = (): Promise<string[]> => stagedLoads(stores);

  it('loads the file and leaves no staged rows', async () => {
    await loadBatch(deps, fileId, signal);
    expect(await file()).toMatchObject({ status: 1, totalRows: 2 });
    expect(await visible()).toBe(0);
    await publishStaged();
    expect(await file()).toMatchObject({ status: 2, totalRows: 2, failure: null });
    expect(await visible()).toBe(2);
    expect(await staged()).toEqual([]);
  });

  const finishFirstJob = async (): Promise<void> => {
    await loadBatch(deps, fileId, signal);
    await publishStaged();
    await deps.lanes.finishImport(jobId, { uniqueDevices: 2, failure: null, errors: [] });
  };
  const statusAndRows = async () => (await listed()).map(({ status, totalRows }) => [status, totalRows]);

  it('continues with the first of several files when that file must be loaded alone', async () => {
    await finishFirstJob();
    await partner.upload('pair/a.csv.gz', gzipSync(`${device(1)},sport\n`.repeat(220_000)));
    await partner.upload('pair/b.csv.gz', gzipSync('nonsense,sport\n'));
    await prepare('pair/', true);
    // Both files share one token, which has the ID of the first file. While the token is held, no other token can be
    // sent for that file.
    await loadBatch(deps, fileId, signal);
    expect(await statusAndRows()).toEqual([
      [1, 220_000],
      [3, 1],
    ]);
    await publishStaged();
    expect(await file()).toMatchObject({ status: 2, failure: null });
  });

  it('retries a batch after a storage failure between two files and loads nothing twice', async () => {
    await finishFirstJob();
    for (const [n, name] of ['a', 'b'].entries())
      await partner.upload(`broken/${name}.csv`, `${device(11 + n)},sport\n`);
    await prepare('broken/', false);
    const readButB =
      (objects: ObjectStore): ObjectStore['read'] =>
      (object, ...rest) =>
        object.key.endsWith('b.csv') ? Promise.reject(new Error('the storage is down')) : objects.read(object, ...rest);
    const sources: typeof deps.sources = {
      withObjects: (source, run) =>
        deps.sources.withObjects(source, (objects) => run({ ...objects, read: readButB(objects) })),
    };
    await expect(loadBatch({ ...deps, sources }, fileId, signal)).rejects.toThrow('the storage is down');
    await loadBatch(deps, fileId, signal);
    await publishStaged();
    expect((await listed()).map(({ status }) => status)).toEqual([2, 2]);
    expect(await visible()).toBe(4);
    expect(await staged()).toEqual([]);
  });

  it('starts again after an attempt died while staging and removes its staged rows', async () => {
    await stageBatch(deps, await claim(), signal);
    await loadBatch(deps, fileId, signal);
    await publishStaged();
    expect(await file()).toMatchObject({ status: 2, totalRows: 2 });
    expect(await visible()).toBe(2);
    expect(await staged()).toEqual([]);
  });

  it('publishes the validated load of an attempt that died, even if the object has changed since', async () => {
    const dead = await claim();
    await stageBatch(deps, dead, signal);
    expect(await deps.files.commit(dead, [good()], null)).toBe(true);
    await partner.upload(`file-${serial}.csv`, 'something else altogether');
    expect(await deps.files.claim(fileId)).toBeNull();
    await publishStaged();
    expect(await file()).toMatchObject({ status: 2, totalRows: 2, failure: null });
    expect(await visible()).toBe(2);
    expect(await staged()).toEqual([]);
  });

  it('lets the next lane holder publish all rows after publishing fails', async () => {
    await loadBatch(deps, fileId, signal);
    const failing = { ...deps.warehouse, publish: () => Promise.reject(new Error('the engine is down')) };
    await expect(publishStaged({ ...deps, warehouse: failing })).rejects.toThrow('the engine is down');
    await publishStaged();
    expect(await file()).toMatchObject({ status: 2, totalRows: 2, failure: null });
    expect(await visible()).toBe(2);
    expect(await staged()).toEqual([]);
  });

  it('continues with the next lane holder after a failed commit without losing or repeating a load', async () => {
    await loadBatch(deps, fileId, signal);
    const failing = { ...deps.lanes, commitImportLoads: () => Promise.reject(new Error('the connection is lost')) };
    await expect(publishStaged({ ...deps, lanes: failing })).rejects.toThrow('lost');
    await publishStaged();
    expect(await file()).toMatchObject({ status: 2, totalRows: 2, failure: null });
    expect(await visible()).toBe(2);
    expect(await staged()).toEqual([]);
  });

  it('publishes after a commit whose response was lost', async () => {
    const failing = {
      ...deps.files,
      commit: async (...parameters: Parameters<typeof deps.files.commit>) => {
        await deps.files.commit(...parameters);
        throw new Error('the connection is lost');
      },
    };
    await expect(loadBatch({ ...deps, files: failing }, fileId, signal)).rejects.toThrow('lost');
    await publishStaged();
    expect(await file()).toMatchObject({ status: 2, totalRows: 2 });
    expect(await visible()).toBe(2);
  });

  it('fails the file and publishes nothing if the object changed after an attempt died', async () => {
    await stageBatch(deps, await claim(), signal);
    await partner.upload(`file-${serial}.csv`, 'something else altogether');
    await loadBatch(deps, fileId, signal);
    expect(await file()).toMatchObject({ status: 3, failure: { code: 'file_changed' } });
    expect(await visible()).toBe(0);
    expect(await staged()).toEqual([]);
  });

  it('rejects the decision and the load of a slow attempt after another attempt took over', async () => {
    const zombie = await claim();
    await stageBatch(deps, zombie, signal);
    const taker = await claim();
    expect(taker.previousLoadId).toBe(zombie.load.loadId);
    await deps.stage.dropLoad(zombie.load.loadId);
    expect(await deps.files.recordProgress(zombie, null)).toBe(false);
    expect(await deps.files.commit(zombie, [good()], null)).toBe(false);
    expect((await nextStep()).do).toBe('rest');
    expect(await file()).toMatchObject({ status: 1, totalRows: 0 });
  });

  it('publishes once when a lane holder presumed dead and its successor both publish', async () => {
    await loadBatch(deps, fileId, signal);
    const first = await takeStaged();
    const second = await takeStaged();
    expect([first, second].map(({ loads }) => loads.map(isTakenOver))).toEqual([[false], [true]]);
    await publishLoads(deps, second);
    await publishLoads(deps, first);
    expect(await file()).toMatchObject({ status: 2, totalRows: 2 });
    expect(await visible()).toBe(2);
    expect(await staged()).toEqual([]);
  });

  it('does not let an earlier lane holder commit while the latest holder might be publishing', async () => {
    await loadBatch(deps, fileId, signal);
    const first = await takeStaged();
    const second = await takeStaged();
    await publishLoads(deps, first);
    expect(await file()).toMatchObject({ status: 1 });
    await publishLoads(deps, second);
    expect(await file()).toMatchObject({ status: 2, totalRows: 2 });
    expect(await visible()).toBe(2);
    expect(await staged()).toEqual([]);
  });

  it('does not abandon a validated load', async () => {
    await loadBatch(deps, fileId, signal);
    await abandonBatch(deps, fileId);
    await publishStaged();
    expect(await file()).toMatchObject({ status: 2, totalRows: 2 });
    expect(await visible()).toBe(2);
  });

  it('abandons a load that is not validated, fails its file, and wakes the lane', async () => {
    await stageBatch(deps, await claim(), signal);
    await abandonBatch(deps, fileId);
    expect(await file()).toMatchObject({ status: 3, failure: { code: 'load_abandoned' } });
    expect(await staged()).toEqual([]);
    const tokens = await withDatabase(stores, (client) =>
      client.query(`SELECT 1 FROM pgboss.job WHERE name = 'lane' AND singleton_key = $1 AND state = 'created'`, [
        String(partner.id),
      ]),
    );
    expect(tokens.rowCount).toBe(1);
  });

  it('splits a batch before it abandons any of its files', async () => {
    await finishFirstJob();
    for (const name of ['a', 'b']) await partner.upload(`two/${name}.csv`, `${device(1)},sport\n`);
    await prepare('two/', false);
    expect((await claim()).files).toHaveLength(2);
    await abandonBatch(deps, fileId);
    const files = await listed();
    expect(files.map(({ status }) => status)).toEqual([0, 0]);
    const claims = await Promise.all(files.map(({ id }) => deps.files.claim(id)));
    expect(claims.map((claimed) => claimed?.files.map((one) => one.fileId))).toEqual(files.map(({ id }) => [id]));
  });

  it('continues a started job when another lane holder finds no files for it', async () => {
    await deps.lanes.failJob(jobId, new Failure('no_files', 'No object has the path.'));
    expect(await deps.importLogs.find(partner.id, jobId)).toMatchObject({ status: 1, errors: null });
    await loadBatch(deps, fileId, signal);
    await publishStaged();
    expect(await file()).toMatchObject({ status: 2 });
  });

  it('does nothing if the file is already done', async () => {
    await loadBatch(deps, fileId, signal);
    await publishStaged();
    expect(await deps.files.claim(fileId)).toBeNull();
    await loadBatch(deps, fileId, signal);
    expect(await visible()).toBe(2);
  });
});
