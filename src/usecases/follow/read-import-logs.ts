import { Failure } from '../../domain/failure.ts';
import type { ImportLog } from '../../domain/import-log.ts';
import type { ErrorFilter, FileFilter, ImportLogFilter } from '../../domain/list-filters.ts';
import type { Partner } from '../../domain/partner.ts';
import type { ImportLogStore } from '../../ports/import-log-store.ts';
import type { LoadStage, RejectedRow } from '../../ports/load-stage.ts';
import type { LoadedFile } from '../../ports/records.ts';
import { type KeyNamingDeps, nameUnknownKeys } from '../load/name-unknown-keys.ts';
import { type ErrorPage, type LoadError, firstErrorPlace, listLoadErrors } from './list-load-errors.ts';

type Deps = { readonly importLogs: ImportLogStore };

export async function getImportLog(deps: Deps, partner: Partner, importLogId: number): Promise<ImportLog> {
  const found = await deps.importLogs.find(partner.id, importLogId);
  if (!found) throw noSuchImportLog(importLogId);
  return found;
}

export function noSuchImportLog(importLogId: number): Failure {
  return new Failure('not_found', `Import log ${importLogId} does not exist.`);
}

export async function listImportLogs(
  deps: Deps,
  partner: Partner,
  { beforeId, limit, filter }: { readonly beforeId: number; readonly limit: number; readonly filter: ImportLogFilter },
): Promise<readonly ImportLog[]> {
  return deps.importLogs.listNewest(partner.id, limit, beforeId, filter);
}

export async function listImportFiles(
  deps: Deps,
  partner: Partner,
  importLogId: number,
  page: FileFilter & { readonly afterId: number; readonly limit: number },
): Promise<readonly LoadedFile[]> {
  await getImportLog(deps, partner, importLogId);
  return deps.importLogs.listFiles(partner.id, importLogId, { ...page, onlyWithErrors: false });
}

/** Lists errors of the job itself, then failed files and rejected rows. */
export async function listImportErrors(
  deps: Deps & KeyNamingDeps & { readonly stage: LoadStage },
  partner: Partner,
  importLogId: number,
  page: ErrorPage,
): Promise<readonly LoadError[]> {
  const log = await getImportLog(deps, partner, importLogId);
  const ofJob = page.after === firstErrorPlace ? errorsOfJob(log, page.filter) : [];
  const describeRejects = (rows: readonly RejectedRow[]): ReturnType<typeof nameUnknownKeys> =>
    nameUnknownKeys(deps, { partnerId: partner.id, keyType: log.keyType }, rows);
  const ofFiles = await listLoadErrors(
    { ...deps, describeRejects },
    (files) => deps.importLogs.listFiles(partner.id, importLogId, files),
    {
      ...page,
      limit: page.limit - ofJob.length,
    },
  );
  return [...ofJob, ...ofFiles];
}

function errorsOfJob({ errors }: ImportLog, filter: ErrorFilter): LoadError[] {
  if (filter.file !== undefined) return [];
  return (errors ?? [])
    .filter(({ file, code }) => file === null && (filter.code ?? code) === code)
    .map(({ code, message }) => ({ fileId: 0, file: null, row: 0, code, message, column: null, text: null }));
}
