import { ClickHouseError } from '@clickhouse/client';
import { brokenGzip, lineOutOfBounds } from '@inlet/row-rule/file-rule';
import { type RejectReason, isRejectReason, rejectReasons } from '@inlet/row-rule/reject-reason';
import { failureOf } from '../../domain/file-failure.ts';
import type { Load, LoadCounts, RejectedRow, RejectPage } from '../../ports/load-stage.ts';
import { type Engine, isOurStatement, loadQueryPrefix, shardFor } from './connect.ts';

/** By file. The counts of a load are where its bytes went in. An empty reason means accepted. */
export async function countRows(engine: Engine, loadId: number): Promise<Map<number, LoadCounts>> {
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
 * Each block of a load keeps its first hundred per reason; the limit here makes them the first hundred of the file.
 * The text goes out as hexadecimal digits, because a refused line may hold any bytes. No column is renamed to itself:
 * an alias would be what ORDER BY and WHERE mean, and text sorts otherwise than numbers.
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
 * What the load's own counts say so far, block by block, where its bytes go in; and, because blank lines are in no
 * count, how many rows the statement has handled at all (the views' reading included). Both are small questions.
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
  if (!isRejectReason(text)) throw new Error(`the engine gave an unknown reason "${text}"`);
  return text;
}

/** What the engine answers when gzip data cannot be unpacked to its end. */
const whatBrokenGzipGives = new Set(['ZLIB_INFLATE_FAILED', 'ATTEMPT_TO_READ_AFTER_EOF', 'CANNOT_READ_ALL_DATA']);

/**
 * What the engine answers when a single line is larger than the memory of a load: the limit of the statement (not of
 * the user or the server, which other loads may have used up) was reached where lines are read.
 */
const lineTooLargeForLoad =
  /^(?:Query memory limit|Memory limit \(for query\)) exceeded.*(?:ParallelParsingBlockInputFormat|LineAsStringRowInputFormat)/s;

/** Tells the partner's fault (the bytes) from ours (everything else, which is tried again). */
export function toLoadFailure(error: unknown, isGzip: boolean): unknown {
  if (!(error instanceof ClickHouseError) || error.type === undefined) return error;
  if (error.type === 'MEMORY_LIMIT_EXCEEDED' && lineTooLargeForLoad.test(error.message)) {
    return failureOf(lineOutOfBounds, error);
  }
  if (isGzip && whatBrokenGzipGives.has(error.type)) {
    return failureOf(brokenGzip, error);
  }
  return error;
}

// While a statement runs, a verdict is a number: 0 for a good row, otherwise the place of the reason. Numbers are far
// cheaper to make and to count than names. What is kept has the names.

const reasons = Object.keys(rejectReasons);

export function verdictOf(reason: RejectReason): number {
  return reasons.indexOf(reason) + 1;
}

/** The name of the reason of a verdict, empty for a good row. */
export function reasonSql(verdict: string): string {
  const names = ['', ...reasons].map((name) => `'${name}'`);
  return `[${names.join(', ')}][${verdict} + 1]`;
}
