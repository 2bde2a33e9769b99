import { displayText } from '@inlet/row-rule/text';
import { columnOfReason, isRejectReason, rejectReasons } from '@inlet/row-rule/row-rule';
import type { ErrorFilter } from '../../domain/list-filters.ts';
import type { LoadStage, RejectedRow } from '../../ports/load-stage.ts';
import type { FilePage, LoadedFile } from '../../ports/records.ts';

type Deps = {
  readonly stage: LoadStage;
  /** Returns messages that are more specific than the messages of the reasons. */
  readonly describeRejects?: (rows: readonly RejectedRow[]) => Promise<ReadonlyMap<RejectedRow, string>>;
};

/**
 * One failed file (row 0) or one rejected row. If `fileId` is 0, the error does not concern a file, and `row` is only
 * its position in the list.
 */
export type LoadError = {
  readonly fileId: number;
  /** Null if the error concerns the whole job. */
  readonly file: string | null;
  readonly row: number;
  readonly code: string;
  readonly message: string;
  readonly column: string | null;
  readonly text: string | null;
};

type ErrorPlace = { readonly fileId: number; readonly row: number };

export type ErrorPage = { readonly after: ErrorPlace; readonly limit: number; readonly filter: ErrorFilter };

/** The start of a list, before the first file. */
export const firstErrorPlace: ErrorPlace = { fileId: 0, row: -1 };

/** Maximum number of files in one ClickHouse query. */
const filesAtATime = 200;

/**
 * Returns a page of failed files and rejected rows, ordered by file and row. A file's failure precedes its rows. Files
 * are read in chunks until the page is full, so that the cost of a page does not depend on the number of files.
 */
export async function listLoadErrors(
  deps: Deps,
  listFiles: (page: FilePage) => Promise<readonly LoadedFile[]>,
  page: ErrorPage,
): Promise<readonly LoadError[]> {
  const lines: LoadError[] = [];
  let after = page.after;
  while (lines.length < page.limit) {
    const files = await listFiles({
      afterId: after.fileId - 1,
      limit: filesAtATime,
      onlyWithErrors: true,
      error: page.filter,
    });
    const last = files.at(-1);
    if (!last) break;
    lines.push(...(await errorsOfFiles(deps, files, { ...page, after, limit: page.limit - lines.length })));
    after = { fileId: last.id, row: Number.MAX_SAFE_INTEGER };
    if (files.length < filesAtATime) break;
  }
  return lines;
}

async function errorsOfFiles(
  deps: Deps,
  files: readonly LoadedFile[],
  { after, limit, filter: { code } }: ErrorPage,
): Promise<LoadError[]> {
  const byId = new Map(files.map((file) => [file.id, file]));
  // A file that could not be read completely has a count of 0, although ClickHouse may have stored rejected rows.
  const withRejects = files.filter(({ rejectedRows }) => rejectedRows > 0);
  const rejects = await deps.stage.listRejects({
    fileIds: withRejects.map(({ id }) => id),
    loadIds: [...new Set(withRejects.flatMap(({ loadId }) => loadId ?? []))],
    reason: code,
    after: { ...after, row: Math.max(after.row, 0) },
    limit,
  });
  const messages = (await deps.describeRejects?.(rejects)) ?? new Map<RejectedRow, string>();
  const failed = files.filter(({ failure }) => code === undefined || failure?.code === code);
  return [
    ...failed.flatMap((file) => failureLine(file, after)),
    ...rejects.map((reject) => rejectLine(reject, byId, messages.get(reject))),
  ]
    .toSorted((a, b) => a.fileId - b.fileId || a.row - b.row)
    .slice(0, limit);
}

function failureLine({ id, path, failure }: LoadedFile, after: ErrorPlace): LoadError[] {
  if (!failure || (id === after.fileId && after.row >= 0)) return [];
  return [{ fileId: id, file: path, row: 0, code: failure.code, message: failure.detail, column: null, text: null }];
}

function rejectLine(
  { fileId, row, reason, text }: RejectedRow,
  files: ReadonlyMap<number, LoadedFile>,
  message: string | undefined,
): LoadError {
  return {
    fileId,
    file: files.get(fileId)?.path ?? '',
    row,
    code: reason,
    // A newer release may have rejected the row for a reason that this release does not know.
    message: message ?? (isRejectReason(reason) ? rejectReasons[reason] : 'The row was rejected.'),
    column: isRejectReason(reason) ? columnOfReason(reason) : null,
    text: displayText(text),
  };
}
