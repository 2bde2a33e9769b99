import { Failure } from '../domain/failure.ts';
import { importLogListLength, type ImportLog } from '../domain/import-log.ts';
import type { Partner } from '../domain/partner.ts';
import type { ImportFile, ImportLogStore } from '../ports/import-log-store.ts';

type Deps = { readonly importLogs: ImportLogStore };

export async function getImportLog(deps: Deps, partner: Partner, importLogId: number): Promise<ImportLog> {
  const found = await deps.importLogs.find(partner.id, importLogId);
  if (!found) throw new Failure('not_found', `There is no import log ${importLogId}.`);
  return found;
}

export async function listImportLogs(deps: Deps, partner: Partner): Promise<readonly ImportLog[]> {
  return deps.importLogs.listNewest(partner.id, importLogListLength);
}

export async function listImportFiles(
  deps: Deps,
  partner: Partner,
  importLogId: number,
  page: { readonly afterId: number; readonly limit: number },
): Promise<readonly ImportFile[]> {
  await getImportLog(deps, partner, importLogId);
  return deps.importLogs.listFiles(partner.id, importLogId, { ...page, onlyWithErrors: false });
}
