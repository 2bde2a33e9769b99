import type { ClickHouseSettings } from '@clickhouse/client';
import { finished } from 'node:stream/promises';
import type { LoadTarget, StreamedFile } from '../../ports/load-stage.ts';
import type { OpenRejects, RejectReader } from '../../ports/reject-export.ts';
import { type Engine, type Server, onEveryServer, selectNumber, selectRows, serverFor } from './connect.ts';
import { endOfKeys, rejectColumnSql, reasonSql, rejectsSql } from './row-rule-sql.ts';

/**
 * The prefix of export tables. Backups and schema checks skip tables whose name starts with `room_`, both in this
 * release and in the previous one.
 */
const prefix = 'room_rejects_';

/** The statements have a lower priority than those of loads, because a partner is waiting for a load. */
const settings: ClickHouseSettings = {
  min_chunk_bytes_for_parallel_parsing: '4194304',
  max_execution_time: 6 * 3600,
  max_memory_usage: '1073741824',
  os_thread_priority: '19',
};

/** A rejected row can have 100 KB, so blocks are limited by their size. */
const blocks: ClickHouseSettings = { min_insert_block_size_rows: '262144', min_insert_block_size_bytes: '16777216' };

/** The tables have one row per rejected line and exist on one server, because they are only read there. */
export function clickhouseRejectReader(engine: Engine): RejectReader {
  return {
    open: async ({ exportId, attempt }, kind, keys) => {
      await dropExportTables(engine, exportId);
      const server = serverFor(engine, exportId);
      const names = { rows: `${prefix}${exportId}_${attempt}_rows`, keys: `${prefix}${exportId}_${attempt}_keys` };
      await createTables(server, names);
      if (keys) {
        const values = [...keys, { key: endOfKeys, attributeId: 0 }].map(({ key, attributeId }) => ({
          key,
          attribute_id: attributeId,
        }));
        await server.insert({ table: names.keys, values, format: 'JSONEachRow' });
      }
      return openRejects(server, names, kind);
    },
    drop: (exportId) => dropExportTables(engine, exportId),
    dropAttempt: ({ exportId, attempt }) => dropTables(engine, `${prefix}${exportId}_${attempt}_`),
  };
}

type Names = { readonly rows: string; readonly keys: string };

async function createTables(server: Server, { rows, keys }: Names): Promise<void> {
  await server.command({
    query: `CREATE TABLE ${rows} (file_id UInt64, row UInt64, row_status UInt8, line String CODEC(ZSTD(1)))
      ENGINE = MergeTree PARTITION BY file_id ORDER BY row`,
  });
  await server.command({
    query: `CREATE TABLE ${keys} (key String, attribute_id UInt64) ENGINE = MergeTree ORDER BY key`,
  });
}

/** Returns the ID of the export that the table belongs to. */
export function exportOfTable(name: string): number | null {
  const [, id] = /^room_rejects_([0-9]+)_/.exec(name) ?? [];
  return id === undefined ? null : Number(id);
}

/** Also drops the tables of earlier attempts. */
export function dropExportTables(engine: Engine, exportId: number): Promise<void> {
  return dropTables(engine, `${prefix}${exportId}_`);
}

/** Dropping a table waits for the statements that use it. */
async function dropTables(engine: Engine, start: string): Promise<void> {
  await onEveryServer(engine, async (server) => {
    const found = await selectRows<{ name: string }>(
      server,
      `SELECT name FROM system.tables WHERE database = currentDatabase() AND startsWith(name, {prefix: String})`,
      { prefix: start },
    );
    if (found.length === 0) return;
    await server.command({
      query: `DROP TABLE IF EXISTS ${found.map(({ name }) => name).join(', ')} SYNC`,
      clickhouse_settings: { max_table_size_to_drop: '0' },
    });
  });
}

function openRejects(server: Server, names: Names, kind: LoadTarget['kind']): OpenRejects {
  return {
    read: async (file, maxLineBytes, signal) => {
      await forget(server, names, file.fileId);
      await stage(server, names, kind, file, maxLineBytes, signal);
      const query = `SELECT toString(count()) AS number FROM ${names.rows} WHERE file_id = {file: UInt64}`;
      return selectNumber(server, { query, query_params: { file: file.fileId } });
    },
    toCsv: async ({ fileId, path }, signal) => {
      const { stream } = await server.exec({
        query: `SELECT {path: String} AS file, row, ${rejectColumnSql('row_status')} AS column,
            ${reasonSql('row_status')} AS code, line AS text
          FROM ${names.rows} WHERE file_id = {file: UInt64} ORDER BY row FORMAT CSVWithNames`,
        query_params: { file: fileId, path },
        clickhouse_settings: {
          ...settings,
          output_format_csv_crlf_end_of_line: 1,
          enable_http_compression: 1,
          http_zlib_compression_level: '3',
        },
        http_headers: { 'Accept-Encoding': 'gzip' },
        decompress_response_stream: false,
        abort_signal: signal,
      });
      return stream;
    },
    forget: (fileId) => forget(server, names, fileId),
  };
}

async function stage(
  server: Server,
  names: Names,
  kind: LoadTarget['kind'],
  { fileId, layout, body, isGzip }: StreamedFile,
  maxLineBytes: number,
  signal: AbortSignal,
): Promise<void> {
  const { stream } = await server.exec({
    query: rejectsSql(kind, layout, maxLineBytes, names),
    values: body,
    query_params: { file: fileId, header_row: layout.headerRow ?? 0 },
    clickhouse_settings: { ...settings, ...blocks },
    http_headers: isGzip ? { 'Content-Encoding': 'gzip' } : {},
    abort_signal: signal,
  });
  await finished(stream.resume());
}

async function forget(server: Server, { rows }: Names, fileId: number): Promise<void> {
  if (!Number.isSafeInteger(fileId)) throw new TypeError(`${fileId} is not a partition ID`);
  await server.command({
    query: `ALTER TABLE ${rows} DROP PARTITION ID '${fileId}'`,
    clickhouse_settings: { max_partition_size_to_drop: '0' },
  });
}
