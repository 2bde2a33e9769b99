import { type AudienceScope, parseEntryId } from '../../domain/audience.ts';
import { customerShare } from '../../domain/customer-share.ts';
import { Failure } from '../../domain/failure.ts';
import { logType } from '../../domain/import-log.ts';
import { openStatuses } from '../../domain/job.ts';
import type { BucketCredentials } from '../../domain/partner-bucket.ts';
import type { Partner } from '../../domain/partner.ts';
import {
  downloadUrlSeconds,
  folderOfAudienceFile,
  folderOfImport,
  maxOpenExports,
} from '../../domain/reject-export.ts';
import type { AudienceStore } from '../../ports/audience-store.ts';
import type { ImportLogStore } from '../../ports/import-log-store.ts';
import type {
  ExportSubject,
  ExportedFile,
  RejectExport,
  RejectExportStore,
  RejectStorage,
} from '../../ports/reject-export.ts';
import { requireCredentials } from '../accept/queue-import.ts';
import { noSuchImportLog } from '../follow/read-import-logs.ts';

export type RejectsDeps = { readonly rejects: RejectExportStore; readonly rejectStorage: RejectStorage };
type ImportDeps = RejectsDeps & { readonly importLogs: ImportLogStore; readonly canAssumeRoles: boolean };
type AudienceDeps = RejectsDeps & { readonly audiences: AudienceStore };

/** Queues the export of all rejected rows of an import. Requesting the export again changes nothing. */
export async function requestImportRejects(
  deps: ImportDeps,
  partner: Partner,
  importLogId: number,
  credentials: BucketCredentials | null,
): Promise<RejectExport> {
  const log = await deps.importLogs.find(partner.id, importLogId);
  if (!log) throw noSuchImportLog(importLogId);
  if (log.logType === logType.delete)
    throw notAvailable(`Import log ${importLogId} is a delete, which reads no files.`);
  if (openStatuses.includes(log.status)) throw notAvailable(`Import log ${importLogId} has not finished.`);
  requireCredentials(deps, { pathType: log.pathType, credentials });
  const folder = folderOfImport(partner.prefix, importLogId);
  return request(deps, partner, { importLogId }, { folder, credentials, share: null });
}

export async function getImportRejects(
  deps: RejectsDeps & { readonly importLogs: ImportLogStore },
  partner: Partner,
  importLogId: number,
): Promise<RejectExport> {
  const found = await deps.rejects.find(partner.id, { importLogId });
  if (found) return found;
  if (!(await deps.importLogs.find(partner.id, importLogId))) throw noSuchImportLog(importLogId);
  throw notRequested(`The rejected rows of import log ${importLogId}`);
}

/** A file of an export with the URL of its object. */
export type DownloadableFile = ExportedFile & { readonly url: string | null };

export async function listImportRejects(
  deps: RejectsDeps & { readonly importLogs: ImportLogStore },
  partner: Partner,
  importLogId: number,
  page: { readonly afterId: number; readonly limit: number },
): Promise<readonly DownloadableFile[]> {
  await getImportRejects(deps, partner, importLogId);
  return withUrls(deps, await deps.rejects.listFiles(partner.id, { importLogId }, page));
}

/** Queues the export of all rejected rows of one audience file. */
export async function requestAudienceRejects(
  deps: AudienceDeps,
  { partner, scope }: { readonly partner: Partner; readonly scope: AudienceScope },
  audienceId: number,
  entryId: string,
): Promise<AudienceRejects> {
  const file = await findAudienceFile(deps, scope, audienceId, entryId);
  if (openStatuses.includes(file.status)) throw notAvailable(`File entry ${entryId} is not loaded yet.`);
  const folder = folderOfAudienceFile(partner.prefix, audienceId, file.id);
  const share = customerShare(scope, maxOpenExports);
  const found = await request(deps, partner, { fileId: file.id }, { folder, credentials: null, share });
  return { ...found, file: await findFile(deps, partner, file.id) };
}

export type AudienceRejects = RejectExport & { readonly file: DownloadableFile | null };

export async function getAudienceRejects(
  deps: AudienceDeps,
  { partner, scope }: { readonly partner: Partner; readonly scope: AudienceScope },
  audienceId: number,
  entryId: string,
): Promise<AudienceRejects> {
  const { id: fileId } = await findAudienceFile(deps, scope, audienceId, entryId);
  const found = await deps.rejects.find(partner.id, { fileId });
  if (!found) throw notRequested(`The rejected rows of file entry ${entryId}`);
  return { ...found, file: await findFile(deps, partner, fileId) };
}

async function findFile(deps: RejectsDeps, partner: Partner, fileId: number): Promise<DownloadableFile | null> {
  const [file = null] = await withUrls(
    deps,
    await deps.rejects.listFiles(partner.id, { fileId }, { afterId: 0, limit: 1 }),
  );
  return file;
}

async function findAudienceFile(
  { audiences }: AudienceDeps,
  scope: AudienceScope,
  audienceId: number,
  entryId: string,
) {
  const entry = parseEntryId(entryId);
  if (entry && 'fileId' in entry && (await audiences.find(scope, audienceId))) {
    const page = { afterId: entry.fileId - 1, limit: 1, onlyWithErrors: false };
    const [file] = await audiences.listLoadedFiles(scope, audienceId, page);
    if (file?.id === entry.fileId) return file;
  }
  throw new Failure('not_found', `Audience ${audienceId} has no file entry "${entryId}".`);
}

async function request(
  { rejects }: RejectsDeps,
  partner: Partner,
  subject: ExportSubject,
  about: Omit<Parameters<RejectExportStore['request']>[2], 'maxOpen'>,
): Promise<RejectExport> {
  await rejects.request(partner.id, subject, { ...about, maxOpen: maxOpenExports });
  const found = await rejects.find(partner.id, subject);
  if (!found) throw new Error('an export that was just requested does not exist');
  return found;
}

async function withUrls({ rejectStorage }: RejectsDeps, files: readonly ExportedFile[]): Promise<DownloadableFile[]> {
  return Promise.all(
    files.map(async (file) => ({
      ...file,
      url: file.object && (await rejectStorage.urlOf(file.object.key, downloadUrlSeconds)),
    })),
  );
}

function notAvailable(detail: string): Failure {
  return new Failure('rejects_not_available', detail);
}

function notRequested(what: string): Failure {
  return new Failure('not_found', `${what} have not been requested, or the export has expired.`);
}
