import { sql } from 'kysely';
import { type PgBoss, fromKysely } from 'pg-boss';
import { errorOfJob } from '../../../domain/import-log.ts';
import { openStatuses } from '../../../domain/job.ts';
import type { LaneStore } from '../../../ports/lane-store.ts';
import type { Database } from '../db/tables.ts';
import { completeLaneToken, laneQueue, laneToken, sendLaneToken } from '../queue/tokens.ts';
import { endJob, summarizeJob } from './end-job.ts';
import { nextStep } from './next-step.ts';
import { recordUploadedDevices, selectRunningJob, commitAudienceLoads, commitImportLoads } from './publish-loads.ts';
import { startAudienceLoad, startDelete, startImport } from './start-job.ts';

export function postgresLaneStore(db: Database, boss: PgBoss): LaneStore {
  return {
    nextStep: (token, maxBatches) => nextStep(db, boss, token, maxBatches),
    yieldLane: (token) =>
      db.transaction().execute(async (tx) => {
        await completeLaneToken(boss, tx, token);
        await sendLaneToken(boss, tx, token.partnerId);
      }),
    startImport: (jobId, batches) => startImport(db, jobId, batches),
    startAudienceLoad: (job, batches) => startAudienceLoad(db, job, batches),
    startDelete: (jobId, found) => startDelete(db, jobId, found),
    commitImportLoads: (jobId, loads) => commitImportLoads(db, jobId, loads),
    recordUploadedDevices: (jobId, devices) => recordUploadedDevices(db, jobId, devices),
    commitAudienceLoads: (job, loads, counts) => commitAudienceLoads(db, job, loads, counts),
    isRunning: async (jobId) => (await selectRunningJob(db, jobId).executeTakeFirst()) !== undefined,
    markCleaned: async (jobId) => {
      await db
        .updateTable('job')
        .set({ cleaned_at: sql`now()` })
        .where('id', '=', jobId)
        .execute();
    },
    summarizeJob: (jobId) => summarizeJob(db, jobId),
    finishImport: (jobId, result) => endJob(db, jobId, { ...result, hasStarted: true }),
    finishAudienceLoad: (jobId, failure) =>
      endJob(db, jobId, { hasStarted: true, failure, errors: [], uniqueDevices: null }),
    finishDelete: (jobId) => endJob(db, jobId, { hasStarted: true, failure: null, errors: [], uniqueDevices: null }),
    failJob: (jobId, failure) =>
      endJob(db, jobId, { hasStarted: false, failure, errors: [errorOfJob(failure)], uniqueDevices: 0 }),
    claimTurn: (task, everySeconds) => claimTurn(db, task, everySeconds),
    requeueIdleLanes: () => requeueIdleLanes(db, boss),
  };
}

/** The first worker to advance the time gets the turn. */
async function claimTurn(db: Database, task: string, everySeconds: number): Promise<boolean> {
  const taken = await db
    .insertInto('sweep')
    .values({ name: task, ran_at: sql<Date>`now()` })
    .onConflict((conflict) =>
      conflict
        .column('name')
        .doUpdateSet({ ran_at: sql<Date>`now()` })
        .where('sweep.ran_at', '<', sql<Date>`now() - make_interval(secs => ${everySeconds - 1})`),
    )
    .returning('name')
    .executeTakeFirst();
  return taken !== undefined;
}

/** Sends all missing tokens in one statement. Existing tokens are unaffected. */
async function requeueIdleLanes(db: Database, boss: PgBoss): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const lanes = await tx
      .selectFrom('job')
      .select('partner_id')
      .distinct()
      .where((eb) =>
        eb.or([eb('status', 'in', openStatuses), eb.and([eb('cancelled', '=', true), eb('cleaned_at', 'is', null)])]),
      )
      .execute();
    const tokens = lanes.map(({ partner_id }) => laneToken(partner_id));
    if (tokens.length > 0) await boss.insert(laneQueue, tokens, { db: fromKysely(tx) });
  });
}
