import type { ClickHouseClient } from '@clickhouse/client';
import { selectNumber } from './connect.ts';
import { type ReplicaPath, replicatedEngine, replicatedTables } from './migration-sql.ts';
import { endOfKeys } from './row-rule-sql.ts';
import { dropTable, engineOf } from './schema.ts';

/**
 * Replaces a server's tables with replicated tables that contain the same rows. The data files are linked, not copied.
 * If this function is interrupted, another call continues its work. No process may write to the tables until the
 * function has finished.
 */
export async function replicateTables(client: ClickHouseClient, replica: ReplicaPath): Promise<void> {
  for (const table of replicatedTables) {
    const next = `${table}_replicated`;
    const engine = await engineOf(client, table);
    const [, kind, given, rest] = /^(\w+MergeTree|MergeTree)(?:\(([^)]*)\))?(.*)$/s.exec(engine) ?? [];
    if (kind === undefined || rest === undefined) continue;
    if (!kind.startsWith('Replicated')) {
      const replicated = replicatedEngine(table, { kind, given }, replica) + rest;
      await dropTable(client, next);
      await client.command({ query: `CREATE TABLE ${next} AS ${table} ENGINE = ${replicated}` });
      await client.command({ query: `ALTER TABLE ${next} ATTACH PARTITION ALL FROM ${table}` });
      // Equal parts are attached only once, and merges remove duplicates, so only distinct rows are compared.
      const final = kind.startsWith('Replacing') ? 'FINAL' : '';
      const [before, after] = await Promise.all([table, next].map((one) => countRows(client, `${one} ${final}`)));
      if (before !== after) throw new Error(`${table} has ${before} rows, but its replicated copy has ${after}.`);
      await client.command({ query: `EXCHANGE TABLES ${table} AND ${next}` });
    }
    await dropTable(client, next);
  }
  // The last release without replicas did not mark the end of a job's keys.
  await client.command({
    query: `INSERT INTO job_keys_local (job_id, key, attribute_id) SELECT DISTINCT job_id, {end: String}, 0 FROM job_keys_local`,
    query_params: { end: endOfKeys },
  });
}

function countRows(client: ClickHouseClient, table: string): Promise<number> {
  return selectNumber(client, { query: `SELECT toString(count()) AS number FROM ${table}` });
}
