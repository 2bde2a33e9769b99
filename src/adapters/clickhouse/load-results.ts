import { isRejectReason, type RejectReason } from '../../domain/reject-reason.ts';
import type { Load, LoadCounts, RejectedRow } from '../../ports/warehouse.ts';
import type { Engine } from './connect.ts';

export async function countRows(engine: Engine, load: Load): Promise<LoadCounts> {
  const result = await engine.shards[0].query({
    query: `
      SELECT reason, toString(sum(rows)) AS rows, toString(min(first_row)) AS first_row FROM load_counts
      WHERE load_id = {load: UInt64} AND file_id = {file: UInt64} GROUP BY reason ORDER BY reason`,
    query_params: { load: load.loadId, file: load.fileId },
    format: 'JSONEachRow',
  });
  const rows = await result.json<{ reason: string; rows: string; first_row: string }>();
  return {
    accepted: Number(rows.find(({ reason }) => reason === '')?.rows ?? 0),
    rejects: rows
      .filter(({ reason }) => reason !== '')
      .map((row) => ({ reason: knownReason(row.reason), rows: Number(row.rows), firstRow: Number(row.first_row) })),
  };
}

/** The text goes out as hexadecimal digits, because a refused line may hold any bytes. */
export async function listRejects(engine: Engine, load: Load, limit: number): Promise<RejectedRow[]> {
  const result = await engine.shards[0].query({
    query: `
      SELECT reason, toString(row) AS row, hex(text) AS text FROM load_rejects
      WHERE load_id = {load: UInt64} AND file_id = {file: UInt64} ORDER BY row LIMIT {limit: UInt32}`,
    query_params: { load: load.loadId, file: load.fileId, limit },
    format: 'JSONEachRow',
  });
  const rows = await result.json<{ reason: string; row: string; text: string }>();
  return rows.map((row) => ({
    reason: knownReason(row.reason),
    row: Number(row.row),
    text: Buffer.from(row.text, 'hex'),
  }));
}

function knownReason(text: string): RejectReason {
  if (!isRejectReason(text)) throw new Error(`the engine gave an unknown reason "${text}"`);
  return text;
}
