import type { ClickHouseSettings } from '@clickhouse/client';
import type { RowLayout } from '@inlet/row-rule/row-layout';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { Load, LoadTarget, StreamedFile, WholeFile } from '../../ports/load-stage.ts';
import { type Engine, loadQueryPrefix, newQueryId, shardFor } from './connect.ts';
import { toLoadFailure } from './load-results.ts';
import { stageSql } from './stage-sql.ts';
import { createStagingTables, stagingTableNames } from './staging-tables.ts';

/**
 * With parallel views, ClickHouse loads 2.3 million rows per second instead of 1.5 million. When the statement returns,
 * the rows for other shards are stored.
 */
const settings: ClickHouseSettings = {
  min_chunk_bytes_for_parallel_parsing: '4194304',
  // Do not combine blocks again before the views. Otherwise, the counts would be delayed until the end of the load.
  min_insert_block_size_rows_for_materialized_views: '1',
  min_insert_block_size_bytes_for_materialized_views: '1',
  parallel_view_processing: 1,
  distributed_foreground_insert: 1,
  max_execution_time: 6 * 3600,
  // This limit also stops a file that consists of one endless line.
  max_memory_usage: '1073741824',
};

/**
 * Each block becomes a part, and more parts make counting slower. Counting ten million members takes 3.5 s in 31 parts
 * and 2.1 s in seven parts. A load with blocks of 1.5 million rows uses 0.5 GB of memory. A key in an attribute row
 * takes two bytes in the file and sixty bytes in the stage, some of them in three copies, so attribute blocks are
 * small. A load of 100 MB peaks at 0.3 GB with one key per row, and at 0.6 GB with the maximum number of keys per line.
 */
const blocks: Readonly<Record<LoadTarget['kind'], ClickHouseSettings>> = {
  audience: { min_insert_block_size_rows: '1500000', min_insert_block_size_bytes: '100663296' },
  attributes: { min_insert_block_size_rows: '262144', min_insert_block_size_bytes: '16777216' },
};

/** Each row is a whole file, so small blocks limit ClickHouse's memory use. */
const together: ClickHouseSettings = { max_insert_block_size: '16' };

type StageOptions = { readonly maxLineBytes: number; readonly stagingTableBytes: number };

/**
 * Streams the object's bytes unchanged. ClickHouse decompresses the data, splits it into lines, and validates and
 * counts the rows.
 */
export async function stageLoad(
  engine: Engine,
  load: Load,
  file: StreamedFile,
  options: StageOptions,
  signal: AbortSignal,
): Promise<void> {
  try {
    const table = await stagingTableFor(engine, load, file.fileId, options);
    await push(engine, load, {
      query: stageSql(load.target.kind, 'lines', file.layout, options.maxLineBytes, table),
      values: file.body,
      parameters: { file: file.fileId, header_row: file.layout.headerRow ?? 0 },
      settings: {},
      isGzip: file.isGzip,
      signal,
    });
  } catch (error) {
    throw toLoadFailure(error, file.isGzip);
  }
}

/**
 * Consecutive files with the same columns share one statement. The statement stays open while the next files are read.
 * Storage and ClickHouse therefore work concurrently, and only a few files are in memory.
 */
export async function stageTogether(
  engine: Engine,
  load: Load,
  files: AsyncIterable<WholeFile>,
  options: StageOptions,
  signal: AbortSignal,
): Promise<void> {
  const ahead = await oneAhead(files);
  if (ahead.next() === null) return;
  const table = await stagingTableFor(engine, load, null, options);
  for (let first = ahead.next(); first !== null; first = ahead.next()) {
    const { layout } = first;
    const rowsOfSameColumns = async function* (): AsyncGenerator<Uint8Array> {
      for (let file = ahead.next(); file && haveSameColumns(file.layout, layout); file = ahead.next()) {
        yield* rowOf(file);
        await ahead.advance();
      }
    };
    await push(engine, load, {
      query: stageSql(load.target.kind, 'files', layout, options.maxLineBytes, table),
      values: Readable.from(rowsOfSameColumns(), { objectMode: false }),
      parameters: {},
      settings: together,
      isGzip: false,
      signal,
    });
  }
}

/** Lets the caller peek at the next item before consuming it. */
async function oneAhead<Item>(items: AsyncIterable<Item>): Promise<{
  next: () => Item | null;
  advance: () => Promise<void>;
}> {
  const iterator = items[Symbol.asyncIterator]();
  let result = await iterator.next();
  return {
    next: () => (result.done === true ? null : result.value),
    advance: async () => {
      result = await iterator.next();
    },
  };
}

function haveSameColumns(a: RowLayout, b: RowLayout): boolean {
  return a.delimiter === b.delimiter && a.columns.join() === b.columns.join();
}

/**
 * Creates the staging tables of a large load and returns the table that receives its lines. Returns null if the load
 * uses the shared stage. Creating the tables takes about ten milliseconds. For a large load, this is less than the time
 * to write the rows a second time. A job that replaces attributes publishes all its loads in one statement, from the
 * shared stage.
 */
async function stagingTableFor(
  engine: Engine,
  load: Load,
  onlyFile: number | null,
  { stagingTableBytes }: StageOptions,
): Promise<string | null> {
  const isReplacing = load.target.kind === 'attributes' && load.target.isReplacing;
  if (load.bytes < stagingTableBytes || isReplacing) return null;
  await createStagingTables(engine, load, onlyFile);
  return stagingTableNames(load.loadId).lines;
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
    clickhouse_settings: { ...settings, ...blocks[load.target.kind], ...what.settings },
    http_headers: what.isGzip ? { 'Content-Encoding': 'gzip' } : {},
    abort_signal: what.signal,
  });
  await finished(stream.resume()); // an unread response would prevent reuse of the connection
}

function targetParameters({ partnerId, jobId, target }: Load): Record<string, number> {
  if (target.kind === 'audience') return {};
  const { ofAdds, ofDeletes } = target.versions;
  return { partner: partnerId, job: jobId, version_of_adds: ofAdds, version_of_deletes: ofDeletes };
}

/** RowBinary: the file ID, the header's line number, and the length-prefixed content. */
function* rowOf({ fileId, layout, content }: WholeFile): Generator<Uint8Array> {
  const head = Buffer.alloc(12);
  head.writeBigUInt64LE(BigInt(fileId), 0);
  head.writeUInt32LE(layout.headerRow ?? 0, 8);
  yield Buffer.concat([head, Buffer.from(varint(content.length))]);
  yield content;
}

/** LEB128: seven bits per byte, lowest first, with the high bit set on all but the last. */
function varint(length: number): number[] {
  return length < 0x80 ? [length] : [(length & 0x7f) | 0x80, ...varint(length >>> 7)];
}
