/** The tables of the device index. They are derived from the other tables, so backups omit them. */
export const indexTables = [
  'attribute_bitmaps_local',
  'audience_bitmaps_local',
  'device_numbers_local',
  'full_chunks_local',
] as const;

/**
 * The tables whose rows are stored on every replica of a shard. All other tables either contain rows of loads in
 * progress, which are stored on only one replica, or describe one server.
 */
export const replicatedTables: ReadonlySet<string> = new Set([
  'device_attributes_local',
  'audience_devices_local',
  'known_devices_local',
  'load_rejects_local',
  'purged_generations_local',
  'erased_devices_local',
  'drop_items_local',
  ...indexTables,
  'index_lease_local',
]);

/** Where a replica registers its tables in ClickHouse Keeper or ZooKeeper. */
export type ReplicaPath = {
  /** Shared by all replicas of a shard and unique to the shard. */
  readonly shardPath: string;
  readonly replicaName: string;
};

export type Statement = {
  readonly sql: string;
  /**
   * Some changes to a replicated table are applied to all replicas by ClickHouse. All other statements must run on
   * every replica.
   */
  readonly runsOn: 'every replica' | 'one replica per shard';
};

/** Returns the statements of a migration. `replica` is null if the tables are not replicated. */
export function renderMigration(text: string, cluster: string, replica: ReplicaPath | null): Statement[] {
  const variables = { cluster, on_cluster: '', replicated: '' };
  return splitStatements(fillVariables(text, variables)).map((sql) => {
    if (replica === null) return { sql, runsOn: 'every replica' };
    return {
      sql: replicateTable(sql, replica),
      runsOn: isReplicatedChange(sql) ? 'one replica per shard' : 'every replica',
    };
  });
}

const createTable = /^(CREATE TABLE (?:IF NOT EXISTS )?(\w+)\s.*?ENGINE = )(\w*MergeTree)(?:\(([^)]*)\))?/s;

function replicateTable(sql: string, replica: ReplicaPath): string {
  return sql.replace(createTable, (all, before: string, table: string, engine: string, given: string | undefined) => {
    if (!replicatedTables.has(table)) return all;
    return before + replicatedEngine(table, { kind: engine, given }, replica);
  });
}

/** Returns the replicated form of an engine. `given` contains the parameters of the plain engine. */
export function replicatedEngine(
  table: string,
  { kind, given }: { readonly kind: string; readonly given: string | undefined },
  { shardPath, replicaName }: ReplicaPath,
): string {
  const parameters = [`'${shardPath}/${table}'`, `'${replicaName}'`, ...(given === undefined ? [] : [given])];
  return `Replicated${kind}(${parameters.join(', ')})`;
}

/** ClickHouse replicates every ALTER of a replicated table, except changes to its settings. */
function isReplicatedChange(sql: string): boolean {
  const [, table] = /^ALTER TABLE (\w+)\s/.exec(sql) ?? [];
  return table !== undefined && replicatedTables.has(table) && !/\bMODIFY SETTING\b/.test(sql);
}

/** Splits a migration at semicolons that end a line. Removes comment lines. */
export function splitStatements(text: string): string[] {
  return text
    .split('\n')
    .filter((line) => !line.trimStart().startsWith('--'))
    .join('\n')
    .split(/;[ \t]*(?:\n|$)/)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
}

/** Replaces `${name}` variables. Throws if a variable is unknown. */
export function fillVariables(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$\{(\w+)\}/g, (_match, name: string) => {
    const value = variables[name];
    if (value === undefined) throw new Error(`the migration uses an unknown variable \${${name}}`);
    return value;
  });
}
