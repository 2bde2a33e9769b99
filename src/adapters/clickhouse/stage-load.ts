import type { ClickHouseSettings } from '@clickhouse/client';
import type { RowLayout } from '@inlet/row-rule/row-layout';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { Load, LoadTarget, StreamedFile, WholeFile } from '../../ports/load-stage.ts';
import { type Engine, loadQueryPrefix, newQueryId, shardFor } from './connect.ts';
import { toLoadFailure } from './load-results.ts';
import { stageSql } from './stage-sql.ts';
import { openRoom, roomNames } from './staging-tables.ts';

/** The views run in parallel (2.3 against 1.5 million rows a second). Rows for other shards are there when it returns. */
const settings: ClickHouseSettings = {
  min_chunk_bytes_for_parallel_parsing: '4194304',
  // Blocks come to the views in their size already; collected again, the counts would be there only at the end.
  min_insert_block_size_rows_for_materialized_views: '1',
  min_insert_block_size_bytes_for_materialized_views: '1',
  parallel_view_processing: 1,
  distributed_foreground_insert: 1,
  max_execution_time: 6 * 3600,
  // Also what stops a file that is one endless line.
  max_memory_usage: '1073741824',
};

/**
 * Every block is a part, and every part more makes counting slower: for ten million members in 31 parts 3.5 s, in 7
 * parts 2.1 s. A load with blocks of 1.5 million rows takes 0.5 GB. A key of an attribute row is two bytes in the file and sixty
 * in the stage, some of them in three copies, so their blocks are small: peaks of a load of 100 MB are 0.3 GB with one
 * key a row and 0.6 GB with as many as a line can hold.
 */
const blocks: Readonly<Record<LoadTarget['kind'], ClickHouseSettings>> = {
  audience: { min_insert_block_size_rows: '1500000', min_insert_block_size_bytes: '100663296' },
  attributes: { min_insert_block_size_rows: '262144', min_insert_block_size_bytes: '16777216' },
};

/** A row is a whole file here: a block of a few keeps what the engine holds at a time small. */
const together: ClickHouseSettings = { max_insert_block_size: '16' };

type StageOptions = { readonly maxLineBytes: number; readonly roomBytes: number };

/** Pushes the object's bytes as they are; unpacking, splitting, judging and counting happen in the engine. */
export async function stageLoad(
  engine: Engine,
  load: Load,
  file: StreamedFile,
  options: StageOptions,
  signal: AbortSignal,
): Promise<void> {
  try {
    const room = await roomFor(engine, load, file.fileId, options);
    await push(engine, load, {
      query: stageSql(load.target.kind, 'lines', file.layout, options.maxLineBytes, room),
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
 * Files go into the same statement as long as they have the same columns: it is open while the next ones are read, so
 * that storage and engine work at the same time and nobody holds more than a few files.
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
  const room = await roomFor(engine, load, null, options);
  for (let first = ahead.next(); first !== null; first = ahead.next()) {
    const { layout } = first;
    const rowsOfSameColumns = async function* (): AsyncGenerator<Uint8Array> {
      for (let file = ahead.next(); file && haveSameColumns(file.layout, layout); file = ahead.next()) {
        yield* rowOf(file);
        await ahead.advance();
      }
    };
    await push(engine, load, {
      query: stageSql(load.target.kind, 'files', layout, options.maxLineBytes, room),
      values: Readable.from(rowsOfSameColumns(), { objectMode: false }),
      parameters: {},
      settings: together,
      isGzip: false,
      signal,
    });
  }
}

/** Shows the next item without taking it. */
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
 * Where the lines of a load go if it is large: from a size on the tables of a room, some ten milliseconds, cost less than
 * writing the rows a second time. A replacing job publishes all its loads in one statement, from the shared stage.
 */
async function roomFor(
  engine: Engine,
  load: Load,
  onlyFile: number | null,
  { roomBytes }: StageOptions,
): Promise<string | null> {
  const isReplacing = load.target.kind === 'attributes' && load.target.isReplacing;
  if (load.bytes < roomBytes || isReplacing) return null;
  await openRoom(engine, load, onlyFile);
  return roomNames(load.loadId).lines;
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
  await finished(stream.resume()); // an answer that is not read to its end spoils the connection
}

function targetParameters({ partnerId, jobId, target }: Load): Record<string, number> {
  if (target.kind === 'audience') return {};
  const { ofAdds, ofDeletes } = target.versions;
  return { partner: partnerId, job: jobId, version_of_adds: ofAdds, version_of_deletes: ofDeletes };
}

/** RowBinary: a file id, the number of the header line, the content with its length before it. */
function* rowOf({ fileId, layout, content }: WholeFile): Generator<Uint8Array> {
  const head = Buffer.alloc(12);
  head.writeBigUInt64LE(BigInt(fileId), 0);
  head.writeUInt32LE(layout.headerRow ?? 0, 8);
  yield Buffer.concat([head, Buffer.from(varint(content.length))]);
  yield content;
}

/** Seven bits a byte, the lowest first; all but the last have the highest bit set. */
function varint(length: number): number[] {
  return length < 0x80 ? [length] : [(length & 0x7f) | 0x80, ...varint(length >>> 7)];
}
