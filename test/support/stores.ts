import { createClient } from '@clickhouse/client';
import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { migrateEngine } from '../../src/adapters/clickhouse/migrate.ts';
import type { Config } from '../../src/entry/config.ts';
import { readAddresses } from '../../stack/addresses.ts';
import type { Topology } from '../../stack/service-environment.ts';
import { copyEngineTemplate } from './engine-template.ts';
import { actualTopology, configFor, environmentFor } from './environment.ts';
import { templateDatabase } from './template-database.ts';

export type TestStores = {
  readonly environment: Record<string, string>;
  readonly config: Config;
  readonly database: string;
  readonly drop: () => Promise<void>;
};

let serial = 0;

/** Creates a PostgreSQL database, and a ClickHouse database on every shard, from the templates. */
export async function createStores(wanted: Topology): Promise<TestStores> {
  const topology = actualTopology(wanted);
  const stores = describeStores(topology);
  const { config, database } = stores;
  await Promise.all([createDatabase(database, templateDatabase), createEngineDatabase(config, topology)]);
  await recordShards(stores);
  return stores;
}

async function createEngineDatabase(config: Config, topology: Topology): Promise<void> {
  const { INLET_CLICKHOUSE_URLS: shards, INLET_CLICKHOUSE_DATABASE: database } = config;
  const cluster = config.INLET_CLICKHOUSE_CLUSTER;
  if (topology !== 'replicated') return copyEngineTemplate(shards.flat(), database, cluster);
  await migrateEngine({ shards, database, cluster, folder: 'migrations/clickhouse' });
}

/** Creates stores for a test that needs only PostgreSQL. The ClickHouse database does not exist. */
export async function createPostgresStores(): Promise<TestStores> {
  const stores = describeStores('one');
  await createDatabase(stores.database, templateDatabase);
  return stores;
}

/** Creates stores without any migration, for a test that runs the migrations itself. */
export async function createEmptyStores(topology: Topology): Promise<TestStores> {
  const stores = describeStores(topology);
  await createDatabase(stores.database, 'template1');
  return stores;
}

/** Gives each shard an identity and records it, as the first `inlet migrate` does. */
async function recordShards(stores: TestStores): Promise<void> {
  const { INLET_CLICKHOUSE_URLS: shards } = stores.config;
  const identities = shards.map(() => randomUUID());
  await Promise.all([
    ...shards.flatMap((replicas, index) =>
      replicas.map(async (url) => {
        const client = createClient({ url: url.reveal(), database: stores.database });
        const values = [{ identity: identities[index] }];
        await client.insert({ table: 'shard_identity', values, format: 'JSONEachRow' });
        await client.close();
      }),
    ),
    withDatabase(stores, (client) =>
      client.query(
        'INSERT INTO shard (number, identity, weight) SELECT number, identity, 1 FROM unnest($1::uuid[]) WITH ORDINALITY AS one (identity, number)',
        [identities],
      ),
    ),
  ]);
}

function describeStores(topology: Topology): TestStores {
  serial += 1;
  const database = `t_${process.pid}_${Date.now().toString(36)}_${serial}`;
  const environment = environmentFor({ database, topology });
  return { environment, config: configFor(environment), database, drop: () => dropStoresOf(database, topology) };
}

async function createDatabase(database: string, template: string): Promise<void> {
  await withServer((client) => client.query(`CREATE DATABASE ${database} TEMPLATE ${template} STRATEGY FILE_COPY`));
}

export async function dropStoresOf(database: string, topology: Topology): Promise<void> {
  const { INLET_CLICKHOUSE_URLS: urls } = configFor(environmentFor({ database, topology }));
  await Promise.all([
    ...urls.flat().map(async (url) => {
      const client = createClient({ url: url.reveal() });
      await client.command({ query: `DROP DATABASE IF EXISTS ${database} SYNC` });
      await client.close();
    }),
    withServer((client) => client.query(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`)),
  ]);
}

export async function withServer<T>(run: (client: Client) => Promise<T>): Promise<T> {
  return withClient(readAddresses().postgres.url, run);
}

/** Provides direct access to the PostgreSQL tables of one test. */
export async function withDatabase<T>(stores: TestStores, run: (client: Client) => Promise<T>): Promise<T> {
  return withClient(stores.config.INLET_POSTGRES_URL.reveal(), run);
}

async function withClient<T>(connectionString: string, run: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString });
  // Tests kill servers. The statement in flight already reports the broken connection, so the error event must not
  // abort the test run.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await run(client);
  } finally {
    await client.end();
  }
}
