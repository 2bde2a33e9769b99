import { sql } from 'kysely';
import type { PgBoss } from 'pg-boss';
import { errorOfJob } from '../../domain/import-log.ts';
import type { LaneStore } from '../../ports/lane-store.ts';
import type { Database } from './connect.ts';
import { completeLaneToken, sendLaneToken } from './dispatch.ts';
import { endJob } from './lanes/end-job.ts';
import { nextStep } from './lanes/next-step.ts';
import { noteUploaded } from './lanes/note-uploaded.ts';
import { runningJob } from './lanes/running-job.ts';
import { settleAudience, settleImport } from './lanes/settle.ts';
import { startAudienceLoad } from './lanes/start-audience-load.ts';
import { startDelete } from './lanes/start-delete.ts';
import { startImport } from './lanes/start-import.ts';
import { summarizeJob } from './lanes/summarize-job.ts';
import { takeTurn } from './lanes/take-turn.ts';
import { wakeLanes } from './lanes/wake-lanes.ts';

export function postgresLaneStore(db: Database, boss: PgBoss): LaneStore {
  return {
    nextStep: (token, filesOut) => nextStep(db, boss, token, filesOut),
    yieldLane: (token) =>
      db.transaction().execute(async (tx) => {
        await completeLaneToken(boss, tx, token);
        await sendLaneToken(boss, tx, token.partnerId);
      }),
    startImport: (jobId, batches) => startImport(db, jobId, batches),
    startAudienceLoad: (job, batches) => startAudienceLoad(db, job, batches),
    startDelete: (jobId, found) => startDelete(db, jobId, found),
    settleImport: (jobId, loads) => settleImport(db, jobId, loads),
    noteUploaded: (jobId, devices) => noteUploaded(db, jobId, devices),
    settleAudience: (job, loads, counts) => settleAudience(db, job, loads, counts),
    isRunning: async (jobId) => (await runningJob(db, jobId).executeTakeFirst()) !== undefined,
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
    takeTurn: (task, everySeconds) => takeTurn(db, task, everySeconds),
    wakeLanes: () => wakeLanes(db, boss),
  };
}
