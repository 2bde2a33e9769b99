import type { PgBoss } from 'pg-boss';
import { jobStatus } from '../../domain/job.ts';
import type { LaneStore } from '../../ports/lane-store.ts';
import type { Database } from './connect.ts';
import { completeLaneToken, sendLaneToken } from './dispatch.ts';
import { endJob } from './lanes/end-job.ts';
import { nextStep } from './lanes/next-step.ts';
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
    startImport: (jobId, files) => startImport(db, jobId, files),
    startDelete: (jobId, found) => startDelete(db, jobId, found),
    summarizeJob: (jobId) => summarizeJob(db, jobId),
    finishImport: (jobId, result) => endJob(db, jobId, { ...result, from: jobStatus.running }),
    finishDelete: (jobId) =>
      endJob(db, jobId, { from: jobStatus.running, failure: null, errors: [], uniqueDevices: null }),
    failJob: (jobId, failure) => {
      const error = { code: failure.code, message: failure.detail, file: null, row: null, column: null, count: 1 };
      // Only from pending: another holder of the lane may have started it meanwhile.
      return endJob(db, jobId, { from: jobStatus.pending, failure, errors: [error], uniqueDevices: 0 });
    },
    takeTurn: (task, everySeconds) => takeTurn(db, task, everySeconds),
    wakeLanes: () => wakeLanes(db, boss),
  };
}
