import type { ImportLogRecord } from '@inlet/contract/import-log';
import type { ImportLog } from '../../../domain/import-log.ts';
import type { Partner } from '../../../domain/partner.ts';
import type { ImportLogStore } from '../../../ports/import-log-store.ts';
import type { FollowedRecords } from '../../../usecases/followed-records.ts';
import { getImportLog, noSuchImportLog } from '../../../usecases/read-import-logs.ts';
import type { Followable } from '../answer-record.ts';
import { shownOnce } from '../shown-record.ts';
import { importLogRecord } from './import-log-record.ts';

export type OneImportLogDeps = {
  readonly importLogs: ImportLogStore;
  readonly following: Pick<FollowedRecords, 'imports'>;
};

/** The estimate grows with the clock while nothing happens: it is no change of the record. */
const shown = shownOnce(importLogRecord, (record: ImportLogRecord) => ({
  ...record,
  progress: { ...record.progress, estimated_seconds_left: undefined },
}));

export function oneImportLog(
  deps: OneImportLogDeps,
  partner: Partner,
  importLogId: number,
): Followable<ImportLog, ImportLogRecord> {
  return {
    read: () => getImportLog(deps, partner, importLogId),
    follow: (wants) => deps.following.imports.follow({ partnerId: partner.id, importLogId }, wants),
    missing: () => noSuchImportLog(importLogId),
    shown,
  };
}
