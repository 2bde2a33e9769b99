import { displayText } from '../domain/display-text.ts';
import type { ImportLog } from '../domain/import-log.ts';
import type { FailureCode } from '../domain/failure-catalogue.ts';
import type { Partner } from '../domain/partner.ts';
import { columnOfReason, rejectReasons, type RejectReason } from '../domain/reject-reason.ts';
import type { ImportFile, ImportLogStore } from '../ports/import-log-store.ts';
import type { RejectedRow, Warehouse } from '../ports/warehouse.ts';
import { getImportLog } from './read-import-logs.ts';

type Deps = { readonly importLogs: ImportLogStore; readonly warehouse: Warehouse };

/** One failed file (row 0) or one refused row. */
export type ImportErrorLine = {
  readonly fileId: number;
  /** Null when it is about the whole job. */
  readonly file: string | null;
  readonly row: number;
  readonly code: FailureCode | RejectReason;
  readonly message: string;
  readonly column: string | null;
  readonly text: string | null;
};

export type ErrorPlace = { readonly fileId: number; readonly row: number };

/** Where a listing begins: before the first file. */
export const firstErrorPlace: ErrorPlace = { fileId: 0, row: -1 };

/** Files looked at in one question to the engine; the answer is cut to the page anyway. */
const filesAtATime = 200;

/**
 * A page of everything that was refused in a job, in the order of file and row; the failure of a file stands before
 * its rows. Files are taken a few at a time until the page is full, so that its cost does not grow with the job.
 */
export async function listImportErrors(
  deps: Deps,
  partner: Partner,
  importLogId: number,
  page: { readonly after: ErrorPlace; readonly limit: number },
): Promise<readonly ImportErrorLine[]> {
  const log = await getImportLog(deps, partner, importLogId);
  const lines = page.after === firstErrorPlace ? errorsOfJob(log) : [];
  let after = page.after;
  while (lines.length < page.limit) {
    const files = await deps.importLogs.listFiles(partner.id, importLogId, {
      afterId: after.fileId - 1,
      limit: filesAtATime,
      onlyWithErrors: true,
    });
    const last = files.at(-1);
    if (!last) break;
    lines.push(...(await errorsOfFiles(deps, files, after, page.limit - lines.length)));
    after = { fileId: last.id, row: Number.MAX_SAFE_INTEGER };
    if (files.length < filesAtATime) break;
  }
  return lines;
}

/** What the record says of the job as a whole. */
function errorsOfJob({ errors }: ImportLog): ImportErrorLine[] {
  return (errors ?? [])
    .filter(({ file }) => file === null)
    .map(({ code, message }) => ({ fileId: 0, file: null, row: 0, code, message, column: null, text: null }));
}

async function errorsOfFiles(
  deps: Deps,
  files: readonly ImportFile[],
  after: ErrorPlace,
  limit: number,
): Promise<ImportErrorLine[]> {
  const byId = new Map(files.map((file) => [file.id, file]));
  // A file that could not be read to its end has no counted rejects, but the engine may have seen some on the way.
  const loadIds = files.flatMap(({ loadId, rejectedRows }) => (rejectedRows > 0 ? (loadId ?? []) : []));
  const rejects = await deps.warehouse.listRejects({
    loadIds,
    after: { ...after, row: Math.max(after.row, 0) },
    limit,
  });
  return [...files.flatMap((file) => failureLine(file, after)), ...rejects.map((reject) => rejectLine(reject, byId))]
    .toSorted((a, b) => a.fileId - b.fileId || a.row - b.row)
    .slice(0, limit);
}

function failureLine({ id, path, failure }: ImportFile, after: ErrorPlace): ImportErrorLine[] {
  if (!failure || (id === after.fileId && after.row >= 0)) return [];
  return [{ fileId: id, file: path, row: 0, code: failure.code, message: failure.detail, column: null, text: null }];
}

function rejectLine(
  { fileId, row, reason, text }: RejectedRow,
  files: ReadonlyMap<number, ImportFile>,
): ImportErrorLine {
  return {
    fileId,
    file: files.get(fileId)?.path ?? '',
    row,
    code: reason,
    message: rejectReasons[reason],
    column: columnOfReason(reason),
    text: displayText(text),
  };
}
