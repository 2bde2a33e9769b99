import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createLogger } from '../../src/entry/logging.ts';
import { wire } from '../../src/entry/wiring.ts';
import type { LaneStep, LaneToken } from '../../src/ports/lane-store.ts';
import type { Log } from '../../src/ports/log.ts';
import { loadBatch } from '../../src/usecases/load-batch.ts';
import { prepareAudienceLoad } from '../../src/usecases/load-audience.ts';
import { runLane } from '../../src/usecases/run-lane.ts';
import { settleLoads } from '../../src/usecases/settle-loads.ts';
import { rows } from '../support/audience-rows.ts';
import { selectOnShards } from '../support/below-the-api.ts';
import { createPartner, type TestPartner } from '../support/partners.ts';
import { createStores, withDatabase, type TestStores } from '../support/stores.ts';

// What a clear or a second holder of the lane does to loads that are being settled: the use cases on the real stores,
// without a worker process.

const { signal } = new AbortController();

describe('settling the loads of an audience', () => {
  let stores: TestStores;
  let partner: TestPartner;
  let deps: Awaited<ReturnType<typeof wire>> & { log: Log; filesOutPerLane: number; stepsPerTurn: number };
  let audienceId: number;

  beforeAll(async () => {
    stores = await createStores('two');
    const log = createLogger({ name: 'test', level: 'silent' });
    const wired = await wire(stores.config, { name: 'test', boss: 'send' }, log);
    deps = { ...wired, log, filesOutPerLane: 16, stepsPerTurn: 10 };
  });
  afterAll(async () => {
    await deps.close();
    await stores.drop();
  });

  const token = (): LaneToken => ({ partnerId: partner.id, id: randomUUID(), retryCount: 0 });
  const nextStep = (): Promise<LaneStep> => deps.lanes.nextStep(token(), 16);
  const takeStaged = async () => {
    const step = await nextStep();
    if (step.do !== 'settle') throw new Error(`the lane wants to ${step.do}`);
    return step;
  };
  const scope = () => ({ partnerId: partner.id, customerId: null });
  const audience = () => deps.audiences.find(scope(), audienceId);
  const staged = (): Promise<string[]> => selectOnShards(stores, 'SELECT DISTINCT load_id FROM staged_members_local');

  /** An audience of one file that is staged and waits for the lane. */
  beforeEach(async () => {
    partner = await createPartner(stores.environment);
    await partner.upload('a.csv', rows(0, 10));
    ({ audienceId } = await deps.audiences.create(scope(), { name: 'a', filePath: 'a.csv', maxOpenJobs: 9 }));
    const step = await nextStep();
    if (step.do !== 'prepare' || step.job.kind !== 'audience') throw new Error(`the lane wants to ${step.do}`);
    await prepareAudienceLoad(deps, step.job);
    const files = await withDatabase(stores, (client) =>
      client.query<{ id: string }>('SELECT id FROM job_file WHERE job_id = $1', [step.job.id]),
    );
    await loadBatch(deps, Number(files.rows[0]?.id), signal);
  });

  it('writes files and counts together', async () => {
    expect(await audience()).toMatchObject({ status: 1, uniqueDevices: 0 });
    const { job, loads } = await takeStaged();
    await settleLoads(deps, job, loads);
    expect(await audience()).toMatchObject({ status: 2, uploadedDevices: 10, uniqueDevices: 10 });
    expect(await staged()).toEqual([]);
  });

  it('is left to the holder of the lane who took them last', async () => {
    const first = await takeStaged();
    const second = await takeStaged();
    await settleLoads(deps, first.job, first.loads);
    expect(await audience()).toMatchObject({ status: 1, uniqueDevices: 0 });
    await settleLoads(deps, second.job, second.loads);
    expect(await audience()).toMatchObject({ status: 2, uploadedDevices: 10, uniqueDevices: 10 });
  });

  it('after a clear changes nothing, and the lane cleans up', async () => {
    const { job, loads } = await takeStaged();
    expect(await deps.audiences.clear(scope(), audienceId)).toBe(true);
    await settleLoads(deps, job, loads);
    expect(await audience()).toMatchObject({ status: 2, uploadedDevices: 0, uniqueDevices: 0 });
    await runLane(deps, token(), signal);
    expect(await staged()).toEqual([]);
    expect((await nextStep()).do).toBe('rest');
  });

  it('is stopped by a clear that comes while it goes on', async () => {
    const { job, loads } = await takeStaged();
    let stop = (): void => undefined;
    const slow = {
      ...deps.audienceWarehouse,
      // Stands for a count that would take long; what runs for the job is stopped by its ids.
      countDevices: () =>
        new Promise<never>((_, reject) => {
          stop = () => reject(new Error('the statement was stopped'));
        }),
    };
    const warehouse = { ...deps.warehouse, stopJob: async () => stop() };
    const settling = settleLoads({ ...deps, audienceWarehouse: slow, warehouse }, job, loads);
    await deps.audiences.clear(scope(), audienceId);
    await settling;
    expect(await audience()).toMatchObject({ status: 2, uniqueDevices: 0 });
    expect(await staged()).toEqual([]);
  });
});
