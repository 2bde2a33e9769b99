import { createClient, type ClickHouseClient } from '@clickhouse/client';
import type { Config } from '../../src/entry/config.ts';

/** Returns the data plane's schema as one text per shard, with placeholders for the database and cluster names. */
export async function dumpClickhouse(config: Config): Promise<string[]> {
  return Promise.all(
    config.INLET_CLICKHOUSE_URLS.flat().map(async (url) => {
      const shard = createClient({ url: url.reveal(), database: config.INLET_CLICKHOUSE_DATABASE });
      try {
        return withPlaceholders(await createStatements(shard), config);
      } finally {
        await shard.close();
      }
    }),
  );
}

async function createStatements(shard: ClickHouseClient): Promise<string> {
  const statements: string[] = [];
  for (const name of await tableNames(shard)) {
    const result = await shard.query({ query: `SHOW CREATE TABLE \`${name}\``, format: 'JSONEachRow' });
    for (const { statement } of await result.json<{ statement: string }>()) statements.push(`${statement};\n`);
  }
  return statements.join('\n');
}

async function tableNames(shard: ClickHouseClient): Promise<string[]> {
  const result = await shard.query({
    query: `SELECT name FROM system.tables WHERE database = currentDatabase() AND name NOT LIKE '.inner%' ORDER BY name`,
    format: 'JSONEachRow',
  });
  return (await result.json<{ name: string }>()).map(({ name }) => name);
}

function withPlaceholders(text: string, config: Config): string {
  return text
    .replaceAll(config.INLET_CLICKHOUSE_DATABASE, '{database}')
    .replaceAll(`'${config.INLET_CLICKHOUSE_CLUSTER}'`, `'{cluster}'`);
}
