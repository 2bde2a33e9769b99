import type { PgBoss } from 'pg-boss';
import type { ImportLogStore } from '../../ports/import-log-store.ts';
import type { Sealer } from '../../ports/sealer.ts';
import { postgresAcceptedRequests } from './accepted-requests.ts';
import type { Database } from './connect.ts';
import { selectLoadedFiles } from './files/select-loaded-files.ts';
import { selectImportLogs } from './import-logs/select-import-logs.ts';
import { submitDelete, submitImport } from './import-logs/submit.ts';
import { selectImportLogMarks } from './select-marks.ts';

export function postgresImportLogStore(
  db: Database,
  boss: PgBoss,
  sealer: Sealer,
  requests = postgresAcceptedRequests(db),
): ImportLogStore {
  const deps = { db, boss, sealer, requests };
  return {
    submitImport: (partnerId, request, maxOpenJobs, once = null) =>
      submitImport(deps, partnerId, request, maxOpenJobs, once),
    submitDelete: (partnerId, request, maxOpenJobs, once = null) =>
      submitDelete(deps, partnerId, request, maxOpenJobs, once),
    find: async (partnerId, importLogId) => (await selectImportLogs(db, partnerId, { importLogId }))[0] ?? null,
    marksOf: (importLogIds) => selectImportLogMarks(db, importLogIds),
    listNewest: (partnerId, limit, beforeId = Number.MAX_SAFE_INTEGER) =>
      selectImportLogs(db, partnerId, { limit, beforeId }),
    listFiles: (partnerId, importLogId, page) => selectLoadedFiles(db, { partnerId, jobId: importLogId }, page),
  };
}
