import type { LoadId } from '../../domain/ids.ts';
import { ClickHouseError } from '@clickhouse/client';
import { brokenGzip, lineOutOfBounds } from '@inlet/row-rule/file-rule';
import { type RejectReason, isRejectReason, rejectReasons } from '@inlet/row-rule/reject-reason';
import { failureOf } from '../../domain/file-failure.ts';
import type { Load, LoadCounts, RejectedRow, RejectPage } from '../../ports/load-stage.ts';
import { type Engine, isOurStatement, loadQueryPrefix, shardFor } from './connect.ts';

/**
 * Returns row counts by file ID, read from the shard that received the load. An empty reason means that the rows were
 * accepted.
 */
export async function countRows(engine: Engine, loadId: LoadId): Promise<Map<number, LoadCounts>> {
  const result = await shardFor(engine, loadId).query({
    query: `
      SELECT toString(file_id) AS file, reason, toString(sum(rows)) AS rows, toString(min(first_row)) AS first_row
      FROM load_counts_local WHERE load_id = {load: UInt64} GROUP BY file_id, reason ORDER BY file_id, reason`,
    query_params: { load: loadId },
    format: 'JSONEachRow',
  });
  const rows = await result.json<{ file: string; reason: string; rows: string; first_row: string }>();
  return new Map(
    [...Map.groupBy(rows, ({ file }) => Number(file))].map(([fileId, ofFile]) => [
      fileId,
      {
        accepted: Number(ofFile.find(({ reason }) => reason === '')?.rows ?? 0),
        rejects: ofFile
          .filter(({ reason }) => reason !== '')
          .map((row) => ({ reason: knownReason(row.reason), rows: Number(row.rows), firstRow: Number(row.first_row) })),
      },
    ]),
  );
}

/**
 * Each block stores its first hundred rejected rows per reason. The limit in this query returns only the first hundred
 * rows per file and reason. The text is returned in hexadecimal, because a rejected line can contain any bytes. The
 * aliases must differ from the column names. Otherwise, ORDER BY and WHERE would use the alias, and text sorts
 * differently from numbers.
 */
export async function listRejects(engine: Engine, page: RejectPage): Promise<RejectedRow[]> {
  const result = await engine.shards[0].query({
    query: `
      SELECT toString(file_id) AS file, toString(row) AS line, reason, hex(text) AS digits FROM (
        SELECT file_id, row, reason, text FROM load_rejects
        WHERE load_id IN ({loads: Array(UInt64)}) AND file_id IN ({files: Array(UInt64)})
        ORDER BY file_id, row LIMIT 100 BY file_id, reason
      )
      WHERE (file_id, row) > ({file: UInt64}, {row: UInt64}) ORDER BY file_id, row LIMIT {limit: UInt32}`,
    query_params: {
      loads: page.loadIds,
      files: page.fileIds,
      file: page.after.fileId,
      row: page.after.row,
      limit: page.limit,
    },
    format: 'JSONEachRow',
  });
  const rows = await result.json<{ file: string; line: string; reason: string; digits: string }>();
  return rows.map((row) => ({
    fileId: Number(row.file),
    row: Number(row.line),
    reason: knownReason(row.reason),
    text: Buffer.from(row.digits, 'hex'),
  }));
}

/**
 * Returns the load's current counts, which increase block by block on the receiving shard. The counts exclude blank
 * lines. Therefore, `rowsHandled` adds all rows that the statement has read, including rows that its views have read.
 */
export async function readSoFar(
  engine: Engine,
  load: Load,
): Promise<{ rows: number; bytes: number; rowsHandled: number }> {
  const result = await shardFor(engine, load.loadId).query({
    query: `
      SELECT toString(sum(rows)) AS counted, toString(sum(bytes)) AS size,
        toString((SELECT sum(read_rows) FROM system.processes
          WHERE is_initial_query AND ${isOurStatement})) AS handled
      FROM load_counts_local WHERE load_id = {load: UInt64}`,
    query_params: { load: load.loadId, prefix: loadQueryPrefix(load.loadId) },
    format: 'JSONEachRow',
  });
  const [row] = await result.json<{ counted: string; size: string; handled: string }>();
  return { rows: Number(row?.counted ?? 0), bytes: Number(row?.size ?? 0), rowsHandled: Number(row?.handled ?? 0) };
}

function knownReason(text: string): RejectReason {
  if (!isRejectReason(text)) throw new Error(`ClickHouse returned an unknown reject reason "${text}"`);
  return text;
}

/** ClickHouse errors for gzip data that is corrupt or truncated. */
const corruptGzipErrors = new Set(['ZLIB_INFLATE_FAILED', 'ATTEMPT_TO_READ_AFTER_EOF', 'CANNOT_READ_ALL_DATA']);

/**
 * ClickHouse's error for a single line that exceeds the memory limit of a load. While it parses lines, the statement
 * reaches its own limit, not the limit of the user or the server.
 */
const lineTooLargeForLoad =
  /^(?:Query memory limit|Memory limit \(for query\)) exceeded.*(?:ParallelParsingBlockInputFormat|LineAsStringRowInputFormat)/s;

/** Maps errors caused by the file's content to failures. All other errors are retried. */
export function toLoadFailure(error: unknown, isGzip: boolean): unknown {
  if (!(error instanceof ClickHouseError) || error.type === undefined) return error;
  if (error.type === 'MEMORY_LIMIT_EXCEEDED' && lineTooLargeForLoad.test(error.message)) {
    return failureOf(lineOutOfBounds, error);
  }
  if (isGzip && corruptGzipErrors.has(error.type)) {
    return failureOf(brokenGzip, error);
  }
  return error;
}

// Within a statement, the row status is a number. It is 0 for an accepted row and otherwise the position of the reject
// reason. Numbers are much cheaper to compute and count than names. Stored rows contain the names.

const reasons = Object.keys(rejectReasons);

export function rowStatusOf(reason: RejectReason): number {
  return reasons.indexOf(reason) + 1;
}

/** SQL for the reject reason of a row status. The reason is empty for an accepted row. */
export function reasonSql(rowStatus: string): string {
  const names = ['', ...reasons].map((name) => `'${name}'`);
  return `[${names.join(', ')}][${rowStatus} + 1]`;
}
