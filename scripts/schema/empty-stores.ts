import { createClient } from '@clickhouse/client';
import { Client } from 'pg';
import { configSchema, type Config } from '../../src/entry/config.ts';
import { readAddresses } from '../../stack/addresses.ts';
import { serviceEnvironment, type Topology } from '../../stack/service-environment.ts';

export type EmptyStores = { readonly config: Config; readonly drop: () => Promise<void> };

let serial = 0;

/** An empty PostgreSQL database, and a name for ClickHouse databases that do not exist yet. */
export async function createEmptyStores(topology: Topology): Promise<EmptyStores> {
  serial += 1;
  const database = `s_${process.pid}_${Date.now().toString(36)}_${serial}`;
  const environment = serviceEnvironment(readAddresses(), { database, bucket: 'unused', topology });
  const config = configSchema.parse(environment);
  await onServer(`CREATE DATABASE ${database}`);
  return {
    config,
    drop: async () => {
      await dropEngineDatabase(config);
      await onServer(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`);
    },
  };
}

export async function dropEngineDatabase(config: Config): Promise<void> {
  for (const url of config.INLET_CLICKHOUSE_URLS.flat()) {
    const client = createClient({ url: url.reveal() });
    try {
      await client.command({ query: `DROP DATABASE IF EXISTS ${config.INLET_CLICKHOUSE_DATABASE} SYNC` });
    } finally {
      await client.close();
    }
  }
}

async function onServer(statement: string): Promise<void> {
  const client = new Client({ connectionString: readAddresses().postgres.url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
