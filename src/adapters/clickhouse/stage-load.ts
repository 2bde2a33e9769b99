import type { ClickHouseSettings } from '@clickhouse/client';
import { finished } from 'node:stream/promises';
import { rowRule } from '../../domain/row-rule.ts';
import type { Load, LoadSource } from '../../ports/warehouse.ts';
import { shardFor, type Engine } from './connect.ts';
import { toLoadFailure } from './load-failure.ts';
import { loadQueryPrefix, newQueryId } from './query-ids.ts';
import { isDataRowSql, judgedLineSql } from './row-rule-sql.ts';

/**
 * A key of a row is two bytes in the file and sixty in the stage, some of them in three copies: so blocks are small.
 * Peaks of a load of 100 MB: 0.3 GB with one key a row, 0.6 GB with as many as a line can hold. With chunks of 10 and
 * blocks of 64 MB fifty keys a row were more than the limit; these cost no more CPU. The views run in parallel (2.3
 * against 1.5 million rows a second). Rows for other shards are there when the statement returns.
 */
const settings: ClickHouseSettings = {
  min_chunk_bytes_for_parallel_parsing: '4194304',
  min_insert_block_size_rows: '262144',
  min_insert_block_size_bytes: '16777216',
  // Blocks come to the views in that size already; collected again, the counts would be there only at the end.
  min_insert_block_size_rows_for_materialized_views: '1',
  min_insert_block_size_bytes_for_materialized_views: '1',
  parallel_view_processing: 1,
  distributed_foreground_insert: 1,
  max_execution_time: 6 * 3600,
  // Also what stops a file that is one endless line.
  max_memory_usage: '1073741824',
};

/** What a line may have beside its own bytes, a byte-order mark and a carriage return, and one byte too many. */
const longestMarks = 5;

/** Pushes the object's bytes as they are; unpacking, splitting, judging and counting happen in the engine. */
export async function stageLoad(engine: Engine, load: Load, source: LoadSource, signal: AbortSignal): Promise<void> {
  try {
    const { stream } = await shardFor(engine, load.loadId).exec({
      query: stageSql(source),
      values: source.body,
      query_id: newQueryId(loadQueryPrefix(load.loadId), 'stage'),
      query_params: {
        partner: load.partnerId,
        job: load.jobId,
        load: load.loadId,
        file: load.fileId,
        version_of_adds: load.versions.ofAdds,
        version_of_deletes: load.versions.ofDeletes,
      },
      clickhouse_settings: settings,
      http_headers: source.isGzip ? { 'Content-Encoding': 'gzip' } : {},
      abort_signal: signal,
    });
    await finished(stream.resume()); // an answer that is not read to its end spoils the connection
  } catch (error) {
    throw toLoadFailure(error, source.isGzip);
  }
}

/**
 * Row numbers are given before blank lines are left out, so that they are line numbers of the file. Of a line that is
 * too long only so much is judged that it still is: with all of it, a line of 60 MB of delimiters takes a gigabyte.
 */
function stageSql({ layout, maxLineBytes }: LoadSource): string {
  return `INSERT INTO judged_lines
    (partner_id, job_id, load_id, file_id, version, row, bytes, reason, device, id_type, country, is_deleted,
     attribute_ids, line)
WITH
  (
    SELECT (groupArray(key), groupArray(meaning)) FROM (
      SELECT key, min(attribute_id) AS meaning FROM job_keys WHERE job_id = {job: UInt64} GROUP BY key
    )
  ) AS job_keys,
  job_keys.1 AS keys,
  job_keys.2 AS attribute_ids,
  ${judgedLineSql(layout, rowRule(layout, maxLineBytes))}
SELECT {partner: UInt64}, {job: UInt64}, {load: UInt64}, {file: UInt64},
  if(is_delete, {version_of_deletes: UInt64}, {version_of_adds: UInt64}),
  row, size, reason, device, id_type, country, is_delete, row_attribute_ids, line
FROM (
  SELECT rowNumberInAllBlocks() + 1 AS row, length(bytes) + 1 AS size, substring(bytes, 1, ${maxLineBytes + longestMarks}) AS raw
  FROM input('bytes String')
)
WHERE ${isDataRowSql(layout)}
FORMAT LineAsString`;
}
