import { createClient } from '@clickhouse/client';
import { Client } from 'pg';
import { migrateEngine } from '../../src/adapters/clickhouse/migrate.ts';
import type { Config } from '../../src/entry/config.ts';
import { readAddresses } from '../../stack/addresses.ts';
import type { Topology } from '../../stack/service-environment.ts';
import { configFor, environmentFor } from './environment.ts';

/** Made once per run by `global-setup.ts`, with all migrations in it. */
export const templateDatabase = 'inlet_test_template';

export type TestStores = {
  readonly environment: Record<string, string>;
  readonly config: Config;
  readonly database: string;
  readonly drop: () => Promise<void>;
};

let serial = 0;

/** Fresh stores for one test file: a PostgreSQL database from the template and an engine database on every shard. */
export async function createStores(topology: Topology): Promise<TestStores> {
  const stores = await createEmptyStores(topology, templateDatabase);
  const { config, database } = stores;
  await migrateEngine({
    urls: config.INLET_CLICKHOUSE_URLS,
    database,
    cluster: config.INLET_CLICKHOUSE_CLUSTER,
    folder: 'migrations/clickhouse',
  });
  return stores;
}

/** Without any migration, for a test that runs them itself. */
export async function createEmptyStores(topology: Topology, template = 'template1'): Promise<TestStores> {
  serial += 1;
  const database = `t_${process.pid}_${Date.now().toString(36)}_${serial}`;
  await withServer((client) => client.query(`CREATE DATABASE ${database} TEMPLATE ${template}`));
  const environment = environmentFor({ database, topology });
  const config = configFor(environment);
  return { environment, config, database, drop: () => dropStores(config, database) };
}

async function dropStores(config: Config, database: string): Promise<void> {
  for (const url of config.INLET_CLICKHOUSE_URLS) {
    const client = createClient({ url: url.reveal() });
    await client.command({ query: `DROP DATABASE IF EXISTS ${database} SYNC` });
    await client.close();
  }
  await withServer((client) => client.query(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`));
}

export async function withServer<T>(run: (client: Client) => Promise<T>): Promise<T> {
  return withClient(readAddresses().postgres.url, run);
}

/** To look below the API, at the tables of one test. */
export async function withDatabase<T>(stores: TestStores, run: (client: Client) => Promise<T>): Promise<T> {
  return withClient(stores.config.INLET_POSTGRES_URL.reveal(), run);
}

async function withClient<T>(connectionString: string, run: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString });
  // Servers are killed in tests. A broken connection is told by the statement that needed it, and must not end the test run.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await run(client);
  } finally {
    await client.end();
  }
}
