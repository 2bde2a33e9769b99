import { PutObjectCommand } from '@aws-sdk/client-s3';
import * as fc from 'fast-check';
import { sql } from 'kysely';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ImportMode, keyType, pathType } from '../../src/domain/import-log.ts';
import { campaignSeed, runsOf } from '../support/campaign.ts';
import { device } from '../support/device-id.ts';
import { leftovers } from '../support/leftovers.ts';
import { type ServiceProcess, startWorker, stopProcess } from '../support/running-service.ts';
import { attributesOf, selectOnShards } from '../support/shard-tables.ts';
import { type TestStores, createStores } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';
import { type BarePartner, type Wired, newBarePartner, wireUp } from '../support/wired.ts';

// Several callers cancel many small jobs at random moments. Each job has its own devices.

const partnerCount = 3;
const jobsPerPartner = runsOf({ short: 5, long: 40 });
const rowsPerFile = 20;

type Plan = {
  readonly kind: ImportMode | 'audience';
  readonly files: number;
  /**
   * When each caller cancels the job, in milliseconds after the job is submitted, starts, or has a staged file. An
   * empty list means that no caller cancels the job.
   */
  readonly cancels: readonly { readonly from: 'submitted' | 'started' | 'staged'; readonly after: number }[];
};

const planArbitrary: fc.Arbitrary<Plan> = fc.record({
  kind: fc.constantFrom('merge', 'replace', 'audience'),
  files: fc.integer({ min: 1, max: 3 }),
  cancels: fc.oneof(
    { weight: 1, arbitrary: fc.constant([]) },
    {
      weight: 3,
      arbitrary: fc.array(
        fc.oneof(
          fc.record({ from: fc.constant('submitted' as const), after: fc.integer({ min: 0, max: 600 }) }),
          fc.record({ from: fc.constant('started' as const), after: fc.integer({ min: 0, max: 600 }) }),
          fc.record({ from: fc.constant('staged' as const), after: fc.integer({ min: 0, max: 10 }) }),
        ),
        { minLength: 1, maxLength: 3 },
      ),
    },
  ),
});

type Submitted = { readonly plan: Plan; readonly jobId: number; readonly rows: readonly string[] };

describe('jobs that are canceled at random moments', () => {
  let stores: TestStores;
  let deps: Wired;
  const workers: ServiceProcess[] = [];

  beforeAll(async () => {
    stores = await createStores('two');
    deps = await wireUp(stores);
    for (let n = 0; n < 2; n++) workers.push(await startWorker(stores.environment, 'cancel-races'));
  });
  afterAll(async () => {
    for (const { child } of workers) await stopProcess(child);
    await deps.close();
    await stores.drop();
  });

  let serial = 0;
  /** Uploads a folder and returns its path and devices. */
  const upload = async (partner: BarePartner, files: number, value: string): Promise<[string, string[]]> => {
    serial += 1;
    const folder = `${serial}/`;
    const first = serial * 1_000;
    const devices = Array.from({ length: files * rowsPerFile }, (_, n) => device(first + n));
    for (let n = 0; n < files; n++) {
      const lines = devices.slice(n * rowsPerFile, (n + 1) * rowsPerFile).map((id) => `${id},${value}\n`);
      const object = { Bucket: stores.config.INLET_S3_BUCKET, Key: `${partner.prefix}${folder}${n}.csv` };
      await deps.s3.send(new PutObjectCommand({ ...object, Body: lines.join('') }));
    }
    return [folder, devices];
  };

  /** Every import has its own attribute, so that no import replaces the rows of another. */
  const submit = async (partner: BarePartner, audienceId: number, plan: Plan): Promise<Submitted> => {
    if (plan.kind === 'audience') {
      const [filePath, devices] = await upload(partner, plan.files, '');
      const scope = { partnerId: partner.id, customerId: null };
      const jobId = await deps.audiences.append(scope, audienceId, {
        path: { relative: filePath, literal: null },
        maxOpenJobs: 1_000,
      });
      return { plan, jobId: jobId ?? 0, rows: devices };
    }
    const attribute = await deps.attributes.create(partner.id, { name: `a${serial}`, foreignKeys: [] });
    const [filePath, devices] = await upload(partner, plan.files, String(attribute.id));
    const request = { filePath, pathType: pathType.sharedBucket, keyType: keyType.attributeId, mode: plan.kind };
    const jobId = await deps.importLogs.submitImport(
      partner.id,
      { ...request, compressed: false, credentials: null },
      1_000,
    );
    return { plan, jobId, rows: devices.map((id) => `${attribute.id} ${id}`) };
  };

  /** Returns the job if all earlier jobs have ended. */
  const findAtHead = async (jobId: number): Promise<{ status: number; is_staged: boolean } | undefined> => {
    const { rows } = await sql<{ status: number; is_staged: boolean }>`
      SELECT status, EXISTS (SELECT FROM job_file f WHERE f.job_id = own.id AND f.staged) AS is_staged FROM job own
      WHERE id = ${jobId} AND NOT EXISTS (
        SELECT FROM job ahead WHERE ahead.partner_id = own.partner_id AND ahead.seq < own.seq AND ahead.status < 2)
    `.execute(deps.db);
    return rows[0];
  };
  const hasReached = async (moment: 'started' | 'staged', jobId: number): Promise<boolean> => {
    const job = await findAtHead(jobId);
    return job !== undefined && (moment === 'started' || job.is_staged || job.status > 1);
  };
  const cancelAsPlanned = async ({ jobId, plan }: Submitted): Promise<string[]> =>
    Promise.all(
      plan.cancels.map(async ({ from, after }) => {
        if (from !== 'submitted')
          await waitUntil(`job ${jobId} has reached "${from}"`, () => hasReached(from, jobId), 120, 10);
        await pause(after);
        return (await deps.operations.cancelJob(jobId))?.is ?? 'unknown';
      }),
    );
  const statusOf = async (jobId: number) => (await deps.operations.findJob(jobId, 0))?.job;
  const members = (partnerId: number): Promise<string[]> =>
    selectOnShards(
      stores,
      `SELECT toString(device) FROM audience_devices_local FINAL WHERE partner_id = ${partnerId} AND generation = 0`,
    );

  const runPartner = async (plans: readonly Plan[]): Promise<string[]> => {
    const partner = await newBarePartner(deps);
    const scope = { partnerId: partner.id, customerId: null };
    const made = await deps.audiences.create(scope, {
      name: 'All',
      path: { relative: 'nothing/', literal: null },
      maxOpenJobs: 1_000,
    });
    const submitted: Submitted[] = [];
    const cancels: Promise<string[]>[] = [];
    for (const plan of plans) {
      const one = await submit(partner, made.audienceId, plan);
      submitted.push(one);
      cancels.push(cancelAsPlanned(one));
    }
    // The last job is loaded, which shows that the lane continues.
    submitted.push(await submit(partner, made.audienceId, { kind: 'merge', files: 1, cancels: [] }));
    const outcomes = await Promise.all(cancels);
    const last = submitted.at(-1)?.jobId ?? 0;
    await waitUntil('all jobs have ended', async () => ((await statusOf(last))?.status ?? 0) > 1);
    const there = new Set([...(await attributesOf(stores, partner.id)), ...(await members(partner.id))]);
    let expected = 0;
    let finishedAt = 0;
    for (const [n, { jobId, plan, rows }] of submitted.entries()) {
      const job = await statusOf(jobId);
      const visible = rows.filter((row) => there.has(row)).length;
      const results = outcomes[n] ?? [];
      const isCancelled = results.some((is) => is === 'stopped' || is === 'never started');
      const name = `job ${jobId}, ${JSON.stringify(plan)}, ${results.join()}`;
      expect([job?.status, visible], name).toEqual(isCancelled ? [3, 0] : [2, rows.length]);
      expect(job?.failure?.code, name).toBe(isCancelled ? 'job_cancelled' : undefined);
      expect(Number(job?.finishedAt), name).toBeGreaterThanOrEqual(finishedAt);
      finishedAt = Number(job?.finishedAt);
      expected += isCancelled ? 0 : rows.length;
    }
    expect(there.size).toBe(expected);
    const audience = await deps.audiences.find(scope, made.audienceId);
    expect(audience?.uniqueDevices).toBe((await members(partner.id)).length);
    return outcomes.flat();
  };

  it('each canceled job is loaded completely or not at all, jobs end in submission order, and nothing is left behind', async () => {
    const plans = fc.sample(planArbitrary, { seed: campaignSeed, numRuns: partnerCount * jobsPerPartner });
    const outcomes = await Promise.all(
      Array.from({ length: partnerCount }, (_, n) =>
        runPartner(plans.slice(n * jobsPerPartner, (n + 1) * jobsPerPartner)),
      ),
    );
    const counts = Object.fromEntries(
      [...Map.groupBy(outcomes.flat(), (is) => is)].map(([is, { length }]) => [is, length]),
    );
    process.stdout.write(`cancel, seed ${campaignSeed}: ${JSON.stringify(counts)}\n`);
    expect(await leftovers(deps, stores)).toEqual([]);
  });
});
