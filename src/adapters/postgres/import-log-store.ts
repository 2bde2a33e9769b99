import type { PgBoss } from 'pg-boss';
import type { ImportLogStore } from '../../ports/import-log-store.ts';
import type { Sealer } from '../../ports/sealer.ts';
import type { Database } from './connect.ts';
import { selectLoadedFiles } from './files/select-loaded-files.ts';
import { selectImportLogs } from './import-logs/select-import-logs.ts';
import { submitDelete, submitImport } from './import-logs/submit.ts';
import { selectImportLogMarks } from './select-marks.ts';

export function postgresImportLogStore(db: Database, boss: PgBoss, sealer: Sealer): ImportLogStore {
  const deps = { db, boss, sealer };
  return {
    submitImport: (partnerId, request, maxOpenJobs) => submitImport(deps, partnerId, request, maxOpenJobs),
    submitDelete: (partnerId, request, maxOpenJobs) => submitDelete(deps, partnerId, request, maxOpenJobs),
    find: async (partnerId, importLogId) => (await selectImportLogs(db, partnerId, { importLogId }))[0] ?? null,
    marksOf: (importLogIds) => selectImportLogMarks(db, importLogIds),
    listNewest: (partnerId, limit) => selectImportLogs(db, partnerId, { limit }),
    listFiles: (partnerId, importLogId, page) => selectLoadedFiles(db, { partnerId, jobId: importLogId }, page),
  };
}
