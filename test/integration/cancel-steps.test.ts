import { PutObjectCommand } from '@aws-sdk/client-s3';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { canceledJobsAtOnce } from '../../src/adapters/postgres/lane/lane-store.ts';
import { type ImportMode, importMode, keyType, pathType } from '../../src/domain/import-log.ts';
import type { NewDelete } from '../../src/ports/import-log-store.ts';
import type { LaneStep } from '../../src/ports/lane-store.ts';
import { finishImport, prepareImport, publishLoads } from '../../src/usecases/lane/run-lane.ts';
import { loadBatch, stageBatch } from '../../src/usecases/load/load-batch.ts';
import { device } from '../support/device-id.ts';
import { attributesOf, stagedLoads } from '../support/shard-tables.ts';
import { silentLog } from '../support/silent-log.ts';
import { type TestStores, createStores, withDatabase } from '../support/stores.ts';
import { type BarePartner, type Wired, newBarePartner, wireUp } from '../support/wired.ts';

// Cancels a job between any two steps of a load. Runs the use cases on the real stores without a worker process.

const signal = new AbortController().signal;

describe('canceling a job', () => {
  let stores: TestStores;
  let partner: BarePartner;
  let wired: Wired;
  const deps = () => ({ ...wired, log: silentLog });

  beforeAll(async () => {
    stores = await createStores('two');
    wired = await wireUp(stores);
  });
  afterAll(async () => {
    await wired.close();
    await stores.drop();
  });
  beforeEach(async () => {
    partner = await newBarePartner(wired);
    await wired.attributes.create(partner.id, { name: 'sport', foreignKeys: ['sport'] });
    const object = { Bucket: stores.config.INLET_S3_BUCKET, Key: `${partner.prefix}a.csv` };
    await wired.s3.send(new PutObjectCommand({ ...object, Body: `${device(1)},sport\n${device(2)},sport\n` }));
  });

  const submit = (mode: ImportMode = importMode.merge): Promise<number> => {
    const request = { filePath: 'a.csv', pathType: pathType.sharedBucket, keyType: keyType.foreignKey, mode };
    return wired.importLogs.submitImport(partner.id, { ...request, compressed: null, credentials: null }, 100);
  };
  const nextStep = (): Promise<LaneStep> =>
    wired.lanes.nextStep({ partnerId: partner.id, id: randomUUID(), retryCount: 0 }, 16);
  const jobFor = async (what: 'prepare' | 'finish') => {
    const step = await nextStep();
    if (step.do !== what || step.job.kind !== 'import') throw new Error(`unexpected lane step: ${step.do}`);
    return step.job;
  };
  const publishStaged = async (): Promise<void> => {
    const step = await nextStep();
    if (step.do !== 'publish') throw new Error(`unexpected lane step: ${step.do}`);
    await publishLoads(deps(), step);
  };
  const finish = async (): Promise<void> => finishImport(deps(), await jobFor('finish'));
  /** Creates a job whose file is listed but not loaded yet. */
  const prepare = async (mode?: ImportMode): Promise<{ jobId: number; fileId: number }> => {
    const jobId = await submit(mode);
    await prepareImport(deps(), await jobFor('prepare'));
    const [file] = await wired.importLogs.listFiles(partner.id, jobId, { afterId: 0, limit: 9, onlyWithErrors: false });
    return { jobId, fileId: file?.id ?? 0 };
  };
  const cancel = (jobId: number) => wired.operations.cancelJob(jobId);
  const record = (jobId: number) => wired.importLogs.find(partner.id, jobId);
  const visible = async (): Promise<number> => (await attributesOf(stores, partner.id)).length;
  const ofOneFile = [{ code: 'job_cancelled', file: 'a.csv', row: null }];
  const ofTheJob = [{ code: 'job_cancelled', file: null, row: null }];

  it('ends a job while its files are being listed and stores no file', async () => {
    const jobId = await submit();
    const job = await jobFor('prepare');
    expect(await cancel(jobId)).toEqual({ is: 'never started', hasEnded: true, jobsAhead: 0 });
    await prepareImport(deps(), job);
    expect(await record(jobId)).toMatchObject({ status: 3, errors: ofTheJob });
    expect((await wired.operations.findJob(jobId, 9))?.files).toEqual([]);
    expect(await nextStep()).toEqual({ do: 'rest' });
  });

  it('ends a waiting job when it reaches the head of its lane and does not affect the job before it', async () => {
    const first = await prepare();
    const second = await submit();
    const third = await submit();
    expect(await cancel(second)).toEqual({ is: 'never started', hasEnded: false, jobsAhead: 1 });
    expect(await cancel(second)).toEqual({ is: 'never started', hasEnded: false, jobsAhead: 1 });
    expect(await record(second)).toMatchObject({ status: 0, errors: null });
    await loadBatch(deps(), first.fileId, signal);
    await publishStaged();
    await finish();
    expect(await record(first.jobId)).toMatchObject({ status: 2 });
    expect((await jobFor('prepare')).id).toBe(third);
    expect(await record(second)).toMatchObject({ status: 3, errors: ofTheJob });
    expect(await cancel(second)).toEqual({ is: 'ended before', status: 3 });
  });

  it('ends many canceled jobs in several transactions', async () => {
    const head = await submit();
    for (let n = 0; n < 2 * canceledJobsAtOnce; n++) {
      const id = await submit();
      await wired.importLogs.cancel(partner.id, id, () => ({ is: 'never started' }));
    }
    const last = await submit();
    const endedTogether = () =>
      withDatabase(stores, async (client) => {
        const { rows } = await client.query<{ jobs: number }>(
          `SELECT count(*)::int AS jobs FROM job WHERE partner_id = $1 AND finished_at IS NOT NULL
           GROUP BY xmin::text ORDER BY 1 DESC`,
          [partner.id],
        );
        return rows.map((row) => row.jobs);
      });
    expect(await cancel(head)).toEqual({ is: 'never started', hasEnded: true, jobsAhead: 0 });
    expect(await endedTogether()).toEqual([canceledJobsAtOnce]);
    expect((await jobFor('prepare')).id).toBe(last);
    expect(await endedTogether()).toEqual([canceledJobsAtOnce, canceledJobsAtOnce, 1]);
  });

  it('prevents the worker that is loading the file from committing', async () => {
    const { jobId, fileId } = await prepare();
    const claim = await wired.files.claim(fileId);
    if (!claim) throw new Error('nothing to claim');
    await stageBatch(deps(), claim, signal);
    expect(await cancel(jobId)).toEqual({ is: 'stopped', cancelledFiles: 1, otherFiles: 0 });
    expect(await cancel(jobId)).toEqual({ is: 'stopped', cancelledFiles: 1, otherFiles: 0 });
    expect(await wired.files.recordProgress(claim, { bytes: 1, rows: 1 })).toBe(false);
    const good = { is: 'staged', fileId, counts: { accepted: 2, rejects: [] } } as const;
    expect(await wired.files.commit(claim, [good], null)).toBe(false);
    expect(await wired.files.claim(fileId)).toBe(null);
    expect(await stagedLoads(stores)).not.toEqual([]);
    // The worker is presumed dead, so the lane removes its staged rows.
    await finish();
    expect(await stagedLoads(stores)).toEqual([]);
    expect(await record(jobId)).toMatchObject({ status: 3, totalRows: 0n, uniqueDevices: 0n, errors: ofOneFile });
    expect(await visible()).toBe(0);
    expect(await nextStep()).toEqual({ do: 'rest' });
  });

  it('discards a load that was just staged', async () => {
    const { jobId, fileId } = await prepare();
    const { stage } = wired;
    const countRows: typeof stage.countRows = async (load) => {
      await cancel(jobId);
      return stage.countRows(load);
    };
    await loadBatch({ ...deps(), stage: { ...stage, countRows } }, fileId, signal);
    expect(await stagedLoads(stores)).toEqual([]);
    await finish();
    expect(await record(jobId)).toMatchObject({ status: 3, errors: ofOneFile });
    expect(await visible()).toBe(0);
  });

  it.each([importMode.merge, importMode.replace])(
    'rejects the cancellation and completes the job if every file is staged: %s',
    async (mode) => {
      const { jobId, fileId } = await prepare(mode);
      await loadBatch(deps(), fileId, signal);
      expect(await cancel(jobId)).toEqual({ is: 'loaded' });
      await publishStaged();
      expect(await cancel(jobId)).toEqual({ is: 'loaded' });
      await finish();
      expect(await cancel(jobId)).toEqual({ is: 'ended before', status: 2 });
      expect(await record(jobId)).toMatchObject({ status: 2, totalRows: 2n, errors: null });
      expect(await visible()).toBe(2);
    },
  );

  it('loads nothing if a worker of the previous release starts the canceled job', async () => {
    const { jobId, fileId } = await prepare();
    await withDatabase(stores, (client) =>
      client.query('UPDATE job SET cancelled = true, cleaned_at = now() WHERE id = $1', [jobId]),
    );
    await loadBatch(deps(), fileId, signal);
    await finish();
    expect(await record(jobId)).toMatchObject({ status: 3, errors: ofOneFile });
    expect(await visible()).toBe(0);
  });

  it('rejects the cancellation of a delete that has started', async () => {
    const all: NewDelete = {
      keyType: keyType.foreignKey,
      keys: ['sport'],
      attributeIdsIn: (attributes) => attributes.map(({ id }) => id),
    };
    const ask = () => wired.importLogs.submitDelete(partner.id, all, 100);
    const waiting = await ask();
    expect((await nextStep()).do).toBe('prepare');
    expect(await cancel(waiting)).toEqual({ is: 'never started', hasEnded: true, jobsAhead: 0 });
    await wired.lanes.startDelete(waiting, { rows: 1, devices: 1 });
    expect(await record(waiting)).toMatchObject({ status: 3, totalRows: 0n, errors: ofTheJob });
    const begun = await ask();
    await wired.lanes.startDelete(begun, { rows: 0, devices: 0 });
    expect(await cancel(begun)).toEqual({ is: 'deleting' });
    expect(await record(begun)).toMatchObject({ status: 1 });
  });

  it('returns null for an unknown job', async () => {
    expect(await cancel(999_999)).toBe(null);
  });
});
