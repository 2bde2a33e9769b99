import type { ClickHouseSettings } from '@clickhouse/client';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { RowLayout } from '../../domain/row-layout.ts';
import type { Load, StreamedFile, WholeFile } from '../../ports/load-stage.ts';
import { shardFor, type Engine } from './connect.ts';
import { toLoadFailure } from './load-failure.ts';
import { loadQueryPrefix, newQueryId } from './query-ids.ts';
import { stageSql } from './stage-sql.ts';

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

/** A row is a whole file here: a block of a few keeps what the engine holds at a time small. */
const settingsTogether: ClickHouseSettings = { ...settings, max_insert_block_size: '16' };

/** Pushes the object's bytes as they are; unpacking, splitting, judging and counting happen in the engine. */
export async function stageLoad(
  engine: Engine,
  load: Load,
  file: StreamedFile,
  maxLineBytes: number,
  signal: AbortSignal,
): Promise<void> {
  try {
    await push(engine, load, {
      query: stageSql(load.target.kind, 'lines', file.layout, maxLineBytes),
      values: file.body,
      parameters: { file: file.fileId, header_row: file.layout.headerRow ?? 0 },
      settings,
      isGzip: file.isGzip,
      signal,
    });
  } catch (error) {
    throw toLoadFailure(error, file.isGzip);
  }
}

/** Files of the same layout go in one statement. */
export async function stageTogether(
  engine: Engine,
  load: Load,
  files: readonly WholeFile[],
  maxLineBytes: number,
  signal: AbortSignal,
): Promise<void> {
  const byLayout = Map.groupBy(files, ({ layout: { delimiter, columns } }) => [delimiter, ...columns].join());
  for (const group of byLayout.values()) {
    const layout: RowLayout | undefined = group[0]?.layout;
    if (!layout) continue;
    await push(engine, load, {
      query: stageSql(load.target.kind, 'files', layout, maxLineBytes),
      values: Readable.from(rowsOf(group), { objectMode: false }),
      parameters: {},
      settings: settingsTogether,
      isGzip: false,
      signal,
    });
  }
}

type Push = {
  readonly query: string;
  readonly values: Readable;
  readonly parameters: Readonly<Record<string, number>>;
  readonly settings: ClickHouseSettings;
  readonly isGzip: boolean;
  readonly signal: AbortSignal;
};

async function push(engine: Engine, load: Load, what: Push): Promise<void> {
  const { stream } = await shardFor(engine, load.loadId).exec({
    query: what.query,
    values: what.values,
    query_id: newQueryId(loadQueryPrefix(load.loadId), 'stage'),
    query_params: { load: load.loadId, ...targetParameters(load), ...what.parameters },
    clickhouse_settings: what.settings,
    http_headers: what.isGzip ? { 'Content-Encoding': 'gzip' } : {},
    abort_signal: what.signal,
  });
  await finished(stream.resume()); // an answer that is not read to its end spoils the connection
}

function targetParameters({ partnerId, jobId, target }: Load): Record<string, number> {
  if (target.kind === 'audience') return {};
  const { ofAdds, ofDeletes } = target.versions;
  return { partner: partnerId, job: jobId, version_of_adds: ofAdds, version_of_deletes: ofDeletes };
}

/** RowBinary: a file id, the number of the header line, the content with its length before it. */
function* rowsOf(files: readonly WholeFile[]): Generator<Uint8Array> {
  for (const { fileId, layout, content } of files) {
    const head = Buffer.alloc(12);
    head.writeBigUInt64LE(BigInt(fileId), 0);
    head.writeUInt32LE(layout.headerRow ?? 0, 8);
    yield Buffer.concat([head, Buffer.from(varint(content.length))]);
    yield content;
  }
}

/** Seven bits a byte, the lowest first; all but the last have the highest bit set. */
function varint(length: number): number[] {
  return length < 0x80 ? [length] : [(length & 0x7f) | 0x80, ...varint(length >>> 7)];
}
