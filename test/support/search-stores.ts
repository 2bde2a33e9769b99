import { commandOnShards, selectOnShards } from './shard-tables.ts';
import { type TestStores, withDatabase } from './stores.ts';

/** Returns the PostgreSQL tables, including those of the queue, that contain the text in any column of any type. */
export async function tablesThatHold(stores: TestStores, text: string): Promise<string[]> {
  return withDatabase(stores, async (client) => {
    const tables = await client.query<{ name: string }>(
      `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname IN ('public', 'pgboss')`,
    );
    const found: string[] = [];
    const hex = Buffer.from(text).toString('hex');
    for (const { name } of tables.rows) {
      const query = `SELECT 1 FROM ${name} t WHERE t::text LIKE '%' || $1 || '%' OR t::text LIKE '%' || $2 || '%' LIMIT 1`;
      if (((await client.query(query, [text, hex])).rowCount ?? 0) > 0) found.push(name);
    }
    return found;
  });
}

/** Returns the statements in ClickHouse's query log that contain the text, except for this query itself. */
export async function loggedStatementsThatHold(stores: TestStores, text: string): Promise<string[]> {
  await commandOnShards(stores, 'SYSTEM FLUSH LOGS');
  const halves = [text.slice(0, 8), text.slice(8)];
  const needle = `concat('${halves[0]}', '${halves[1]}')`;
  return selectOnShards(
    stores,
    `SELECT query_id FROM system.query_log WHERE position(concat(query, toString(Settings)), ${needle}) > 0`,
  );
}
