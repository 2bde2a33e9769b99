import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createLogger } from '../../src/entry/logging.ts';
import { wireAll } from '../support/wired.ts';
import type { LaneStep, LaneToken } from '../../src/ports/lane-store.ts';
import type { Log } from '../../src/ports/observability.ts';
import { prepareAudienceLoad } from '../../src/usecases/lane/audience-job.ts';
import { publishLoads } from '../../src/usecases/lane/publish-loads.ts';
import { runLane } from '../../src/usecases/lane/run-lane.ts';
import { loadBatch } from '../../src/usecases/load/load-batch.ts';
import { commandOnShards } from '../support/below-the-api.ts';
import { device } from '../support/device-id.ts';
import { rows } from '../support/file-rows.ts';
import { type TestPartner, createPartner } from '../support/partners.ts';
import { places, stagedLoads } from '../support/stage-places.ts';
import { type TestStores, createStores, withDatabase } from '../support/stores.ts';

// What a clear or a second holder of the lane does to loads that are being settled: the use cases on the real stores,
// without a worker process.

const { signal } = new AbortController();

describe.each(places)('settling the loads of an audience, staged in $place', ({ roomBytes }) => {
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
    if (step.do !== 'publish') throw new Error(`the lane wants to ${step.do}`);
    return step;
  };
  const scope = () => ({ partnerId: partner.id, customerId: null });
  const audience = () => deps.audiences.find(scope(), audienceId);
  const staged = (): Promise<string[]> => stagedLoads(stores);

  /** Takes the job whose turn it is as far as its file can go by itself: staged, waiting for the lane. */
  const stageNext = async (): Promise<void> => {
    const step = await nextStep();
    if (step.do !== 'prepare' || step.job.kind !== 'audience') throw new Error(`the lane wants to ${step.do}`);
    await prepareAudienceLoad(deps, step.job);
    const files = await withDatabase(stores, (client) =>
      client.query<{ id: string }>('SELECT id FROM job_file WHERE job_id = $1', [step.job.id]),
    );
    await loadBatch(deps, Number(files.rows[0]?.id), signal);
  };
  /** Devices of these numbers become known, as an import would bring them. */
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
    await deps.audiences.append(scope(), audienceId, { filePath, maxOpenJobs: 9 });
    await runLane({ ...deps, stepsPerTurn: 1 }, token(), signal);
    await stageNext();
  };

  /** An audience of one file that is staged and waits for the lane. */
  beforeEach(async () => {
    partner = await createPartner(stores.environment);
    await partner.upload('a.csv', ownRows(0, 10));
    ({ audienceId } = await deps.audiences.create(scope(), { name: 'a', filePath: 'a.csv', maxOpenJobs: 9 }));
    await stageNext();
  });

  it('writes files and counts together', async () => {
    expect(await audience()).toMatchObject({ status: 1, uniqueDevices: 0 });
    const step = await takeStaged();
    await publishLoads(deps, step);
    expect(await audience()).toMatchObject({ status: 2, uploadedDevices: 10, uniqueDevices: 10 });
    expect(await staged()).toEqual([]);
  });

  it('counts an audience whose file had been counted before', async () => {
    await withDatabase(stores, (client) =>
      client.query('UPDATE job_file SET uploaded_devices = 10 WHERE audience_id = $1', [audienceId]),
    );
    await publishLoads(deps, await takeStaged());
    expect(await audience()).toMatchObject({ status: 2, uploadedDevices: 10, uniqueDevices: 10 });
  });

  it('is left to the holder of the lane who took them last', async () => {
    const first = await takeStaged();
    const second = await takeStaged();
    await publishLoads(deps, first);
    expect(await audience()).toMatchObject({ status: 1, uniqueDevices: 0 });
    await publishLoads(deps, second);
    expect(await audience()).toMatchObject({ status: 2, uploadedDevices: 10, uniqueDevices: 10 });
  });

  it('after a clear changes nothing, and the lane cleans up', async () => {
    const step = await takeStaged();
    expect(await deps.audiences.clear(scope(), audienceId)).toBe(true);
    await publishLoads(deps, step);
    expect(await audience()).toMatchObject({ status: 2, uploadedDevices: 0, uniqueDevices: 0 });
    await runLane(deps, token(), signal);
    expect(await staged()).toEqual([]);
    expect((await nextStep()).do).toBe('rest');
  });

  it.each([
    ['while it goes on', 1],
    ['just before its next statement', 2],
  ])('is stopped by a clear that comes %s', async (_when, stopsNeeded) => {
    const step = await takeStaged();
    let stops = 0;
    const stopped = Promise.withResolvers<never>();
    stopped.promise.catch(() => undefined); // it may come before anybody counts
    const slow = {
      ...deps.audienceWarehouse,
      // Stands for a count that would take long; what runs for the job is stopped by its ids.
      countDevices: () => stopped.promise,
    };
    const stopJob = async (): Promise<void> => {
      stops += 1;
      if (stops >= stopsNeeded) stopped.reject(new Error('the statement was stopped'));
      await Promise.resolve();
    };
    const warehouse = { ...deps.warehouse, stopJob };
    const settling = publishLoads({ ...deps, audienceWarehouse: slow, warehouse }, step);
    await deps.audiences.clear(scope(), audienceId);
    await settling;
    expect(await audience()).toMatchObject({ status: 2, uniqueDevices: 0 });
    expect(await staged()).toEqual([]);
  });

  describe('of a small file', () => {
    const countsNothingAnew = () => ({
      ...deps.audienceWarehouse,
      countDevices: () => Promise.reject(new Error('counted anew')),
    });

    it('adds what the file brings', async () => {
      await makeKnown(5, 11);
      await publishLoads(deps, await takeStaged());
      expect(await audience()).toMatchObject({ uniqueDevices: 10, matchedDevices: 5 });
      await append('b.csv', ownRows(9, 11));
      await publishLoads({ ...deps, audienceWarehouse: countsNothingAnew() }, await takeStaged());
      expect(await audience()).toMatchObject({ uploadedDevices: 12, uniqueDevices: 11, matchedDevices: 6 });
      expect(await staged()).toEqual([]);
    });

    it('sees what has become known since of the devices that were there', async () => {
      await publishLoads(deps, await takeStaged());
      await makeKnown(0, 3);
      await append('b.csv', ownRows(10, 12));
      await publishLoads(deps, await takeStaged());
      expect(await audience()).toMatchObject({ uniqueDevices: 12, matchedDevices: 3 });
    });

    it('counts right when another holder of the lane had published it', async () => {
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
