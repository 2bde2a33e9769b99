import { ClickHouseError, type ClickHouseSettings } from '@clickhouse/client';
import { type RejectReason, type RowLayout, isRejectReason } from '@inlet/row-rule/row-rule';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { isSmallLoad } from '../../domain/job.ts';
import type { ShardRows } from '../../domain/row-account.ts';
import { shownSuppressed } from '../../domain/suppression.ts';
import { Failure } from '../../domain/failure.ts';
import type {
  Load,
  LoadStage,
  LoadTarget,
  RejectPage,
  RejectedRow,
  StagedCounts,
  StreamedFile,
  WholeFile,
} from '../../ports/load-stage.ts';
import {
  type Engine,
  type Server,
  isOurStatement,
  isReplicated,
  loadQueryPrefix,
  newQueryId,
  onAllServers,
  onEveryServer,
  onEveryShardInSync,
  selectNumber,
  selectRows,
  serverFor,
} from './connect.ts';
import { dropLoad, dropStages, listStaged } from './drop-stages.ts';
import { copyingMissingKeys } from './job-keys.ts';
import { toLoadFailure } from './load-failure.ts';
import { type StageTarget, stageSql } from './row-rule-sql.ts';
import { audienceScope } from './stand-in-sql.ts';
import { createStagingTables, hasTable, stagingTableNames } from './staging-tables.ts';
import { isListMissing } from './suppression-sql.ts';

/**
 * The server that receives the bytes of a load. Only this server has the load's counts, so an attempt uses the same
 * server throughout.
 */
const receivers = new WeakMap<Engine, WeakMap<Load, Server>>();

function receiverOf(engine: Engine, load: Load): Server {
  const ofEngine = receivers.get(engine) ?? new WeakMap<Load, Server>();
  receivers.set(engine, ofEngine);
  const receiver = ofEngine.get(load) ?? serverFor(engine, load.loadId);
  ofEngine.set(load, receiver);
  return receiver;
}

/** Loads of at least `stagingTableBytes` get their own staging tables. */
export function clickhouseLoadStage(engine: Engine, stagingTableBytes: number): LoadStage {
  return {
    stage: (load, file, maxLineBytes, signal) =>
      stageLoad(engine, load, file, { maxLineBytes, stagingTableBytes }, signal),
    stageTogether: (load, files, maxLineBytes, signal) =>
      stageTogether(engine, load, files, { maxLineBytes, stagingTableBytes }, signal),
    readSoFar: (load) => readSoFar(engine, load),
    countRows: (load) => countRows(engine, load),
    countStaged: (load, fileIds) => countStaged(engine, load, fileIds),
    listRejects: (page) => listRejects(engine, page),
    dropStages: (loadIds) => dropStages(engine, loadIds),
    dropLoad: (loadId) => dropLoad(engine, loadId),
    hasReplicas: isReplicated(engine),
    listStaged: (servers) => listStaged(engine, servers),
  };
}

/**
 * With parallel views, ClickHouse loads 2.3 million rows per second instead of 1.5 million. Rows for other shards are
 * inserted in the foreground, so they are stored when the statement returns.
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
 * Each block becomes a part, and more parts make counting slower. Counting ten million members takes 3.5 s with 31
 * parts and 2.1 s with seven parts. A load with blocks of 1.5 million rows uses 0.5 GB of memory. A key in an attribute
 * row takes two bytes in the file and sixty bytes in the stage, some of them in three copies, so attribute blocks are
 * small. A load of 100 MB peaks at 0.3 GB with one key per row, and at 0.6 GB with the maximum number of keys per line.
 */
const blocks: Readonly<Record<LoadTarget['kind'], ClickHouseSettings>> = {
  audience: { min_insert_block_size_rows: '1500000', min_insert_block_size_bytes: '100663296' },
  attributes: { min_insert_block_size_rows: '262144', min_insert_block_size_bytes: '16777216' },
};

/**
 * The threads of a large load have a low priority (`nice`), so that other partners' small loads do not wait for them.
 * ClickHouse ignores the setting unless it has the capability CAP_SYS_NICE, which its packages grant. ClickHouse reads
 * the setting before it parses the statement, so a SETTINGS clause would have no effect. The name of the setting is an
 * alias that older releases also accept.
 */
export function prioritySettings(bytes: number): ClickHouseSettings {
  return isSmallLoad(bytes) ? {} : { os_thread_priority: '19' };
}

/** Each row is a whole file, so small blocks limit ClickHouse's memory use. */
const together: ClickHouseSettings = { max_insert_block_size: '16' };

type StageOptions = { readonly maxLineBytes: number; readonly stagingTableBytes: number };

/**
 * Streams the object's bytes unchanged. ClickHouse decompresses the data, splits it into lines, and validates and
 * counts the rows.
 */
async function stageLoad(
  engine: Engine,
  load: Load,
  file: StreamedFile,
  options: StageOptions,
  signal: AbortSignal,
): Promise<void> {
  try {
    const table = await stagingTableFor(engine, load, file.fileId, options);
    await push(engine, load, {
      query: stageSql(load.target.kind, 'lines', file.layout, options.maxLineBytes, stageTarget(engine, load, table)),
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
async function stageTogether(
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
      query: stageSql(load.target.kind, 'files', layout, options.maxLineBytes, stageTarget(engine, load, table)),
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
 * Creates separate staging tables for a large load and returns the table that receives its lines. Creating the tables
 * takes about ten milliseconds. For a large load, this is less than the time to write the rows a second time. Returns
 * null if the load uses the shared stage. A job that replaces attributes uses the shared stage, because it publishes
 * all its loads in one statement. A retry with replicated tables also uses the shared stage, because its staging table
 * could contain a part that is identical to one from an earlier attempt. ClickHouse does not attach such a part to a
 * replicated table, even if the earlier part was lost.
 */
async function stagingTableFor(
  engine: Engine,
  load: Load,
  onlyFile: number | null,
  { stagingTableBytes }: StageOptions,
): Promise<string | null> {
  const isReplacing = load.target.kind === 'attributes' && load.target.isReplacing;
  const cannotAttach = load.isRetry === true && isReplicated(engine);
  if (load.bytes < stagingTableBytes || isReplacing || cannotAttach) return null;
  await createStagingTables(engine, receiverOf(engine, load), load, onlyFile);
  return stagingTableNames(load.loadId).lines;
}

function stageTarget(engine: Engine, { suppression }: Load, stagingTable: string | null): StageTarget {
  return { stagingTable, suppression, shards: engine.shards.length };
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
  const receiver = receiverOf(engine, load);
  const { stream } = await copyingMissingKeys(engine, receiver, load.jobId, () =>
    requiringList(load, () =>
      receiver.exec({
        query: what.query,
        values: what.values,
        query_id: newQueryId(loadQueryPrefix(load.loadId), 'stage'),
        query_params: { load: load.loadId, ...targetParameters(load), ...what.parameters },
        clickhouse_settings: {
          ...settings,
          ...blocks[load.target.kind],
          ...prioritySettings(load.bytes),
          ...what.settings,
        },
        http_headers: what.isGzip ? { 'Content-Encoding': 'gzip' } : {},
        abort_signal: what.signal,
      }),
    ),
  );
  await finished(stream.resume()); // an unread response would prevent reuse of the connection
}

/**
 * A server lacks this version of the list if a later version has replaced it, or if the server was restored or added.
 * The load is then tried again with the current version.
 */
async function requiringList<T>({ suppression }: Load, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof ClickHouseError) || !isListMissing(error, suppression)) throw error;
    const detail = `A server lacks version ${suppression.version} of the suppression list. If this persists, run \`inlet privacy suppress sync\`.`;
    throw new Failure('replicas_behind', detail, { cause: error });
  }
}

function targetParameters({ partnerId, jobId, target }: Load): Record<string, number> {
  if (target.kind === 'audience') return { audience_scope: audienceScope(target.audienceId) };
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

/** LEB128: seven bits per byte, lowest first, with the high bit set on every byte except the last. */
function varint(length: number): number[] {
  return length < 0x80 ? [length] : [(length & 0x7f) | 0x80, ...varint(length >>> 7)];
}

/**
 * Returns row counts by file ID, read from the server that received the load. An empty reason means that the rows were
 * accepted.
 */
async function countRows(engine: Engine, load: Load): Promise<Map<number, StagedCounts>> {
  const { loadId, target } = load;
  const result = await receiverOf(engine, load).query({
    query: `
      SELECT toString(file_id) AS file, reason, toString(sum(rows)) AS rows, toString(min(first_row)) AS first_row,
        toString(sum(staged_rows)) AS staged, toString(sum(suppressed_rows)) AS suppressed,
        toString(sum(sampled_rows)) AS sampled
      FROM load_counts_local WHERE load_id = {load: UInt64} GROUP BY file_id, reason ORDER BY file_id, reason`,
    query_params: { load: loadId },
    format: 'JSONEachRow',
  });
  const rows = await result.json<CountedRow>();
  return new Map(
    [...Map.groupBy(rows, ({ file }) => Number(file))].map(([fileId, ofFile]) => [fileId, toCounts(ofFile, target)]),
  );
}

type CountedRow = {
  file: string;
  reason: string;
  rows: string;
  first_row: string;
  staged: string;
  suppressed: string;
  sampled: string;
};

/** In an audience, each accepted line is one row. */
function toCounts(ofFile: readonly CountedRow[], { kind }: LoadTarget): StagedCounts {
  const row = ofFile.find(({ reason }) => reason === '');
  const accepted = Number(row?.rows ?? 0);
  return {
    accepted,
    stagedRows: kind === 'audience' ? accepted : Number(row?.staged ?? 0),
    suppressed: {
      rows: Number(row?.suppressed ?? 0),
      shown: shownSuppressed({ sampled: Number(row?.sampled ?? 0), accepted }),
    },
    rejects: ofFile
      .filter(({ reason }) => reason !== '')
      .map((rejected) => ({
        reason: knownReason(rejected.reason),
        rows: Number(rejected.rows),
        firstRow: Number(rejected.first_row),
      })),
  };
}

/**
 * Staged attributes have no file ID, so all rows of the load are counted. Failed files do not change the result,
 * because a file of an import fails only if none of its rows is accepted.
 */
async function countStaged(engine: Engine, { loadId, target }: Load, fileIds: readonly number[]): Promise<ShardRows> {
  const isInFiles = target.kind === 'audience' ? 'file_id IN ({files: Array(UInt64)})' : 'true';
  const shared = target.kind === 'audience' ? 'staged_members_local' : 'staged_attributes_local';
  const { rows: ownTable } = stagingTableNames(loadId);
  const query_params = { load: loadId, files: fileIds };
  // A replacing job cannot load a file again, so it waits for every replica.
  const onServers = target.kind === 'attributes' && target.isReplacing ? onAllServers : onEveryServer;
  const ofShards = await onServers(engine, async (server) => {
    // Use only one statement for a small load. When many statements are running, each one has to wait for a CPU.
    const [inShared] = await selectRows<{ rows: string; hasOwnTable: number }>(
      server,
      `SELECT toString(count()) AS rows, ${hasTable(ownTable)} AS hasOwnTable
       FROM ${shared} WHERE load_id = {load: UInt64} AND ${isInFiles}`,
      query_params,
    );
    if (inShared?.hasOwnTable !== 1) return Number(inShared?.rows ?? 0);
    const inOwn = `SELECT toString(count()) AS number FROM ${ownTable} WHERE ${isInFiles}`;
    return selectNumber(server, { query: inOwn, query_params });
  });
  return ofShards.map((ofReplicas, index) => {
    const [rows = 0, ...others] = ofReplicas.filter((number) => number > 0);
    // With rows on several replicas, devices could be counted twice. This happens if a replica becomes unavailable
    // while the load is being staged.
    if (others.length > 0) {
      throw new Failure('replicas_behind', `Load ${loadId} has rows on several replicas of shard ${index + 1}.`);
    }
    return rows;
  });
}

/**
 * Each block stores its first hundred rejected rows per reason. This query returns only the first hundred rows per file
 * and reason. The text is returned in hexadecimal, because a rejected line can contain any bytes. The aliases must
 * differ from the column names. Otherwise, ORDER BY and WHERE would use the alias, and text sorts differently from
 * numbers.
 */
async function listRejects(engine: Engine, page: RejectPage): Promise<RejectedRow[]> {
  // A file's rejected rows are on the shard that received its load.
  const ofShards = await onEveryShardInSync(engine, ['load_rejects_local'], (shard) =>
    selectRows<{ file: string; line: string; reason: string; digits: string }>(
      shard,
      `SELECT toString(file_id) AS file, toString(row) AS line, reason, hex(text) AS digits FROM (
        SELECT file_id, row, reason, text FROM load_rejects_local
        WHERE load_id IN ({loads: Array(UInt64)}) AND file_id IN ({files: Array(UInt64)})
          AND ({reason: String} = '' OR reason = {reason: String})
        ORDER BY file_id, row LIMIT {rowsPerReason: UInt32} BY file_id, reason
      )
      WHERE (file_id, row) > ({file: UInt64}, {row: UInt64}) ORDER BY file_id, row LIMIT {limit: UInt32}`,
      {
        loads: page.loadIds,
        files: page.fileIds,
        reason: page.reason ?? '',
        file: page.after.fileId,
        row: page.after.row,
        limit: page.limit,
        rowsPerReason: page.rowsPerReason ?? 100,
      },
    ),
  );
  return ofShards
    .flat()
    .map(({ file, line, reason, digits }) => ({
      fileId: Number(file),
      row: Number(line),
      reason,
      text: Buffer.from(digits, 'hex'),
    }))
    .toSorted((one, other) => one.fileId - other.fileId || one.row - other.row)
    .slice(0, page.limit);
}

/**
 * Returns the load's current counts, which increase block by block on the receiving server. The counts exclude blank
 * lines. `rowsHandled` includes them: it is the number of rows that the statement and its views have read.
 */
export async function readSoFar(
  engine: Engine,
  load: Load,
): Promise<{ rows: number; bytes: number; rowsHandled: number }> {
  const result = await receiverOf(engine, load).query({
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
