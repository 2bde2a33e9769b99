import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createLogger } from '../../src/entry/logging.ts';
import type { LaneStep, LaneToken } from '../../src/ports/lane-store.ts';
import type { Log } from '../../src/ports/observability.ts';
import { prepareAudienceLoad, publishLoads, runLane } from '../../src/usecases/lane/run-lane.ts';
import { loadBatch } from '../../src/usecases/load/load-batch.ts';
import { device } from '../support/device-id.ts';
import { rows } from '../support/file-rows.ts';
import { type TestPartner, createPartner } from '../support/partners.ts';
import { commandOnShards, stagedLoads } from '../support/shard-tables.ts';
import { places } from '../support/staging-places.ts';
import { type TestStores, createStores, withDatabase } from '../support/stores.ts';
import { wireAll } from '../support/wired.ts';

// Tests how a clear or a second lane holder affects loads that are being published. Runs the use cases on the real
// stores without a worker process.

const { signal } = new AbortController();

describe.each(places)("publishing an audience's loads, staged in $place", ({ roomBytes }) => {
  let stores: TestStores;
  let partner: TestPartner;
  let deps: Awaited<ReturnType<typeof wireAll>> & { log: Log; maxBatchesPerLane: number; stepsPerTurn: number };
  let audienceId: number;

  beforeAll(async () => {
    stores = await createStores('two');
    const log = createLogger({ name: 'test', level: 'silent' });
    const wired = await wireAll({ ...stores.config, INLET_ROOM_BYTES: roomBytes });
    deps = { ...wired, log, maxBatchesPerLane: 16, stepsPerTurn: 10 };
  });
  afterAll(async () => {
    await deps.close();
    await stores.drop();
  });

  const token = (): LaneToken => ({ partnerId: partner.id, id: randomUUID(), retryCount: 0 });
  const nextStep = (): Promise<LaneStep> => deps.lanes.nextStep(token(), 16);
  const takeStaged = async () => {
    const step = await nextStep();
    if (step.do !== 'publish') throw new Error(`unexpected lane step: ${step.do}`);
    return step;
  };
  const scope = () => ({ partnerId: partner.id, customerId: null });
  const audience = () => deps.audiences.find(scope(), audienceId);
  const staged = (): Promise<string[]> => stagedLoads(stores);

  /** Runs the next job until its file is staged and waits for the lane. */
  const stageNext = async (): Promise<void> => {
    const step = await nextStep();
    if (step.do !== 'prepare' || step.job.kind !== 'audience') throw new Error(`unexpected lane step: ${step.do}`);
    await prepareAudienceLoad(deps, step.job);
    const files = await withDatabase(stores, (client) =>
      client.query<{ id: string }>('SELECT id FROM job_file WHERE job_id = $1', [step.job.id]),
    );
    await loadBatch(deps, Number(files.rows[0]?.id), signal);
  };
  /** Adds known devices as an import would. */
  const makeKnown = async (from: number, to: number): Promise<void> => {
    const values = Array.from({ length: to - from }, (_, n) => `('${device(partner.id * 1000 + from + n)}')`);
    await commandOnShards(
      stores,
      `INSERT INTO known_devices SETTINGS distributed_foreground_insert = 1 VALUES ${values.join(', ')}`,
    );
    await withDatabase(stores, (client) => client.query(`SELECT nextval('known_devices_version')`));
  };
  const ownRows = (from: number, to: number): string => rows(partner.id * 1000 + from, partner.id * 1000 + to);
  const append = async (filePath: string, content: string): Promise<void> => {
    await partner.upload(filePath, content);
    await deps.audiences.append(scope(), audienceId, { path: { relative: filePath, literal: null }, maxOpenJobs: 9 });
    await runLane({ ...deps, stepsPerTurn: 1 }, token(), signal);
    await stageNext();
  };

  /** Creates an audience with one file, which is staged and waits for the lane. */
  beforeEach(async () => {
    partner = await createPartner(stores.environment);
    await partner.upload('a.csv', ownRows(0, 10));
    ({ audienceId } = await deps.audiences.create(scope(), {
      name: 'a',
      path: { relative: 'a.csv', literal: null },
      maxOpenJobs: 9,
    }));
    await stageNext();
  });

  it('updates the files and the counts of an audience together', async () => {
    expect(await audience()).toMatchObject({ status: 1, uniqueDevices: 0 });
    const step = await takeStaged();
    await publishLoads(deps, step);
    expect(await audience()).toMatchObject({ status: 2, uploadedDevices: 10, uniqueDevices: 10 });
    expect(await staged()).toEqual([]);
  });

  it('counts an audience whose file was already counted', async () => {
    await withDatabase(stores, (client) =>
      client.query('UPDATE job_file SET uploaded_devices = 10 WHERE audience_id = $1', [audienceId]),
    );
    await publishLoads(deps, await takeStaged());
    expect(await audience()).toMatchObject({ status: 2, uploadedDevices: 10, uniqueDevices: 10 });
  });

  it('leaves publishing to the latest lane holder', async () => {
    const first = await takeStaged();
    const second = await takeStaged();
    await publishLoads(deps, first);
    expect(await audience()).toMatchObject({ status: 1, uniqueDevices: 0 });
    await publishLoads(deps, second);
    expect(await audience()).toMatchObject({ status: 2, uploadedDevices: 10, uniqueDevices: 10 });
  });

  it('ignores the device counts of a lane holder that was replaced while it counted', async () => {
    await partner.upload('p/1.csv', ownRows(100, 110));
    await partner.upload('p/2.csv', ownRows(110, 130));
    await publishLoads(deps, await takeStaged());
    const other = await deps.audiences.create(scope(), {
      name: 'b',
      path: { relative: 'p/', literal: null },
      maxOpenJobs: 9,
    });
    await runLane({ ...deps, stepsPerTurn: 1 }, token(), signal);
    const prepared = await nextStep();
    if (prepared.do !== 'prepare' || prepared.job.kind !== 'audience') throw new Error(prepared.do);
    const { id: jobId } = prepared.job;
    await prepareAudienceLoad(deps, prepared.job);
    // Each file is its own batch, so that the second file is staged after the first is published.
    const files = await withDatabase(stores, async (client) => {
      await client.query('UPDATE job_file SET batch_id = id WHERE job_id = $1', [jobId]);
      const found = await client.query<{ id: string }>('SELECT id FROM job_file WHERE job_id = $1 ORDER BY id', [
        jobId,
      ]);
      return found.rows.map(({ id }) => Number(id));
    });
    await loadBatch(deps, files[0] ?? 0, signal);
    const first = await takeStaged();
    const counting = Promise.withResolvers<void>();
    const resume = Promise.withResolvers<void>();
    const stalled = {
      ...deps.audienceWarehouse,
      countDevices: async (...given: Parameters<typeof deps.audienceWarehouse.countDevices>) => {
        counting.resolve();
        await resume.promise;
        return deps.audienceWarehouse.countDevices(...given);
      },
    };
    const publishingFirst = publishLoads({ ...deps, audienceWarehouse: stalled }, first);
    await counting.promise;
    await loadBatch(deps, files[1] ?? 0, signal);
    const second = await takeStaged();
    const lanes = {
      ...deps.lanes,
      commitAudienceLoads: async (...given: Parameters<typeof deps.lanes.commitAudienceLoads>) => {
        resume.resolve();
        await publishingFirst;
        return deps.lanes.commitAudienceLoads(...given);
      },
    };
    await publishLoads({ ...deps, lanes }, second);
    expect(await deps.audiences.find(scope(), other.audienceId)).toMatchObject({
      uploadedDevices: 30,
      uniqueDevices: 30,
    });
  });

  it('publishes nothing after a clear and cleans up', async () => {
    const step = await takeStaged();
    expect(await deps.audiences.clear(scope(), audienceId)).toBe(true);
    await publishLoads(deps, step);
    expect(await audience()).toMatchObject({ status: 2, uploadedDevices: 0, uniqueDevices: 0 });
    await runLane(deps, token(), signal);
    expect(await staged()).toEqual([]);
    expect((await nextStep()).do).toBe('rest');
  });

  it.each([
    ['during a statement', 1],
    ['just before the next statement', 2],
  ])('stops when the audience is cleared %s', async (_when, stopsNeeded) => {
    const step = await takeStaged();
    let stops = 0;
    const stopped = Promise.withResolvers<never>();
    stopped.promise.catch(() => undefined); // The promise can reject before the count starts.
    const slow = {
      ...deps.audienceWarehouse,
      // Simulates a slow count. The job's statements are stopped by their IDs.
      countDevices: () => stopped.promise,
    };
    const stopJob = async (): Promise<void> => {
      stops += 1;
      if (stops >= stopsNeeded) stopped.reject(new Error('the statement was stopped'));
      await Promise.resolve();
    };
    const warehouse = { ...deps.warehouse, stopJob };
    const publishing = publishLoads({ ...deps, audienceWarehouse: slow, warehouse }, step);
    await deps.audiences.clear(scope(), audienceId);
    await publishing;
    expect(await audience()).toMatchObject({ status: 2, uniqueDevices: 0 });
    expect(await staged()).toEqual([]);
  });

  describe('for a small file', () => {
    const withoutRecount = () => ({
      ...deps.audienceWarehouse,
      countDevices: () => Promise.reject(new Error('recounted')),
    });

    it('adds the devices of a small file to the counts', async () => {
      await makeKnown(5, 11);
      await publishLoads(deps, await takeStaged());
      expect(await audience()).toMatchObject({ uniqueDevices: 10, matchedDevices: 5 });
      await append('b.csv', ownRows(9, 11));
      await publishLoads({ ...deps, audienceWarehouse: withoutRecount() }, await takeStaged());
      expect(await audience()).toMatchObject({ uploadedDevices: 12, uniqueDevices: 11, matchedDevices: 6 });
      expect(await staged()).toEqual([]);
    });

    it('counts devices that became known after they were loaded', async () => {
      await publishLoads(deps, await takeStaged());
      await makeKnown(0, 3);
      await append('b.csv', ownRows(10, 12));
      await publishLoads(deps, await takeStaged());
      expect(await audience()).toMatchObject({ uniqueDevices: 12, matchedDevices: 3 });
    });

    it('counts correctly if another lane holder has already published the file', async () => {
      await makeKnown(0, 20);
      await publishLoads(deps, await takeStaged());
      await append('b.csv', ownRows(10, 12));
      const first = await takeStaged();
      for (const { load, fileIds } of first.loads) await deps.audienceWarehouse.publish(load, fileIds);
      await publishLoads(deps, await takeStaged());
      expect(await audience()).toMatchObject({ uploadedDevices: 12, uniqueDevices: 12, matchedDevices: 12 });
    });
  });
});
