import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Engine, type Server, onAvailableServers, selectNumber, selectRows } from './connect.ts';

/** Maps each table or view to the types of its columns, by column name. */
export type ExpectedSchema = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** Reads the dump of the schema that the migrations in this folder produce. */
export async function readSchema(folder: string): Promise<ExpectedSchema> {
  return parseSchema(await readFile(join(folder, 'schema.sql'), 'utf8'));
}

export function parseSchema(dump: string): ExpectedSchema {
  const statements = dump.split(/;\n+/).flatMap((statement): [string, Map<string, string>][] => {
    const name = /^CREATE (?:TABLE|MATERIALIZED VIEW) \{database\}\.(\w+)/.exec(statement)?.[1];
    if (name === undefined) return [];
    const columns = statement.matchAll(/^ {4}`(\w+)` (.+?)(?: (?:CODEC|DEFAULT)\b.*)?,?$/gm);
    return [[name, new Map(Array.from(columns, ([, column = '', type = '']) => [column, type]))]];
  });
  return new Map(statements);
}

/** Returns a table's engine with its parameters, keys, and settings, as in CREATE TABLE. `table` can include the database. */
export async function engineOf(server: Server, table: string): Promise<string> {
  const [row] = await selectRows<{ engine: string }>(
    server,
    `SELECT engine_full AS engine FROM system.tables
     WHERE concat(database, '.', name) = if(position({table: String}, '.') > 0, {table: String}, concat(currentDatabase(), '.', {table: String}))`,
    { table },
  );
  return row?.engine ?? '';
}

/** Drops a table of any size. By default, ClickHouse refuses to drop large tables, to prevent mistakes. */
export async function dropTable(server: Server, table: string): Promise<void> {
  await server.command({
    query: `DROP TABLE IF EXISTS ${table} SYNC`,
    clickhouse_settings: { max_table_size_to_drop: '0' },
  });
}

const maxDifferences = 10;

/**
 * Returns one sentence per table, view, or column that is missing on a shard or has a different type. Additional
 * tables, views, and columns are ignored, because migrations only add to the schema, so a newer schema has more.
 */
export async function findSchemaDifferences(engine: Engine, expected: ExpectedSchema): Promise<string[]> {
  const ofShards = await onAvailableServers(engine, async (server, index) => {
    const rows = await selectRows<{ table: string; name: string; type: string }>(
      server,
      `SELECT table, name, type FROM system.columns
       WHERE database = currentDatabase() AND table IN ({tables: Array(String)})`,
      { tables: [...expected.keys()] },
    );
    const tables = Map.groupBy(rows, ({ table }) => table);
    return [...expected].flatMap(([table, columns]) => {
      const found = tables.get(table);
      if (!found) return [`Shard ${index + 1} has no table or view ${table}.`];
      return [...columns].flatMap(([column, type]) => {
        const actual = found.find(({ name }) => name === column)?.type;
        if (actual === type) return [];
        const state = actual === undefined ? 'is missing' : `has type ${actual}, not ${type}`;
        return [`Column ${column} of ${table} on shard ${index + 1} ${state}.`];
      });
    });
  });
  const differences = [...new Set(ofShards.flat(2))];
  const others = differences.length - maxDifferences;
  return others > 0 ? [...differences.slice(0, maxDifferences), `There are ${others} more differences.`] : differences;
}

/**
 * The query reads only recent counts, so that it stays cheap. A restore to a state more than a week old would be
 * noticed anyway.
 */
const countedDays = 8;

/** Returns the highest load ID of the last `countedDays` days on any server, or 0 if there is none. */
export async function findHighestLoadId(engine: Engine): Promise<number> {
  const query = `SELECT toString(max(load_id)) AS number FROM load_counts_local WHERE loaded_on >= today() - ${countedDays}`;
  const found = await onAvailableServers(engine, (server) => selectNumber(server, { query }));
  return Math.max(0, ...found.flat());
}
