import type { PgBoss } from 'pg-boss';
import type { ImportLogStore } from '../../ports/import-log-store.ts';
import type { Database } from './connect.ts';
import { selectImportLogs } from './import-logs/select-import-logs.ts';
import { submitImport } from './import-logs/submit-import.ts';

export function postgresImportLogStore(db: Database, boss: PgBoss): ImportLogStore {
  return {
    submit: (partnerId, request, maxOpenJobs) => submitImport(db, boss, partnerId, request, maxOpenJobs),
    find: async (partnerId, importLogId) => (await selectImportLogs(db, partnerId, { importLogId }))[0] ?? null,
    listNewest: (partnerId, limit) => selectImportLogs(db, partnerId, { limit }),
  };
}
