import { createClient } from '@clickhouse/client';
import { appendFileSync, cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { committedDumps } from '../../scripts/schema/committed-dumps.ts';
import { dumpClickhouse } from '../../scripts/schema/dump-clickhouse.ts';
import { dumpPostgres } from '../../scripts/schema/dump-postgres.ts';
import { type EmptyStores, createEmptyStores, dropEngineDatabase } from '../../scripts/schema/empty-stores.ts';
import { migrateEngine } from '../../src/adapters/clickhouse/migrate.ts';
import { migratePostgres } from '../../src/adapters/postgres/db/migrate.ts';
import { underMigrationLock } from '../../src/adapters/postgres/db/migration-lock.ts';
import type { Config } from '../../src/entry/config.ts';
import { createLogger } from '../../src/entry/logging.ts';
import { migrate } from '../../src/entry/migrate.ts';
import { topologies } from '../support/environment.ts';
import { silentLog } from '../support/silent-log.ts';
import { waitUntil } from '../support/wait-until.ts';

const log = createLogger({ name: 'migrations-test', level: 'silent' });
const allMigrations = (['postgres', 'clickhouse'] as const).flatMap((store) =>
  readdirSync(`migrations/${store}`)
    .filter((name) => name !== 'schema.sql')
    .toSorted()
    .map((name) => `${store}/${name}`),
);

type Schema = { readonly postgres: string; readonly shards: readonly string[] };

async function schemaOf(config: Config): Promise<Schema> {
  return { postgres: await dumpPostgres(config), shards: await dumpClickhouse(config) };
}

async function inPostgres(config: Config, ...statements: readonly string[]): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: config.INLET_POSTGRES_URL.reveal() });
  await client.connect();
  try {
    let rows: Record<string, unknown>[] = [];
    for (const statement of statements) rows = (await client.query<Record<string, unknown>>(statement)).rows;
    return rows;
  } finally {
    await client.end();
  }
}

/** Runs a statement on each shard and returns the result of each shard. */
async function onShards(config: Config, query: string): Promise<string[]> {
  return Promise.all(
    config.INLET_CLICKHOUSE_URLS.flat().map(async (url) => {
      const shard = createClient({ url: url.reveal(), database: config.INLET_CLICKHOUSE_DATABASE });
      try {
        if (!query.startsWith('SELECT')) return (await shard.command({ query })).query_id;
        return await (await shard.query({ query, format: 'TabSeparated' })).text();
      } finally {
        await shard.close();
      }
    }),
  );
}

async function migrationsRecorded(config: Config): Promise<{ postgres: unknown[]; shards: string[] }> {
  const rows = await inPostgres(config, 'SELECT name FROM schema_migration ORDER BY name');
  const shards = await onShards(config, 'SELECT name FROM schema_migration ORDER BY name');
  return { postgres: rows.map(({ name }) => `postgres/${String(name)}`), shards };
}

const recordedOnce = (config: Config): Awaited<ReturnType<typeof migrationsRecorded>> => ({
  postgres: allMigrations.filter((name) => name.startsWith('postgres/')),
  shards: config.INLET_CLICKHOUSE_URLS.map(() =>
    allMigrations
      .filter((name) => name.startsWith('clickhouse/'))
      .map((name) => `${name.slice('clickhouse/'.length)}\n`)
      .join(''),
  ),
});

const testedTopologies = inject('campaign') === 'long' ? topologies : (['two'] as const);

describe.each(testedTopologies)('migrating stores with %s shard(s)', (topology) => {
  let stores: EmptyStores;

  beforeEach(async () => {
    stores = await createEmptyStores(topology);
  });
  afterEach(async () => {
    await stores.drop();
  });

  it('creates the committed schemas, changes nothing on a second run, and keeps the data when applied again', async () => {
    expect(await migrate(stores.config, log)).toEqual(allMigrations);
    const schema = await schemaOf(stores.config);
    // If this fails after a change to the migrations, run "npm run schema:dump" and commit the result.
    expect(schema.postgres).toBe(readFileSync(committedDumps.postgres, 'utf8'));
    expect(schema.shards).toHaveLength(topology === 'one' ? 1 : 2);
    for (const shard of schema.shards) expect(shard).toBe(readFileSync(committedDumps.clickhouse, 'utf8'));

    expect(await migrate(stores.config, log)).toEqual([]);
    expect(await schemaOf(stores.config)).toEqual(schema);
    expect(await migrationsRecorded(stores.config)).toEqual(recordedOnce(stores.config));

    await inPostgres(
      stores.config,
      `INSERT INTO partner (name, prefix) VALUES ('acme', 'acme/')`,
      'DELETE FROM schema_migration',
    );
    await onShards(stores.config, 'INSERT INTO known_devices_local SELECT generateUUIDv4()');
    await onShards(stores.config, 'TRUNCATE TABLE schema_migration');
    expect(await migrate(stores.config, log)).toEqual(allMigrations);
    expect(await schemaOf(stores.config)).toEqual(schema);
    expect(await inPostgres(stores.config, 'SELECT name FROM partner')).toEqual([{ name: 'acme' }]);
    for (const count of await onShards(stores.config, 'SELECT count() FROM known_devices_local'))
      expect(count).toBe('1\n');
  });

  it('creates the same schema again after everything was dropped', async () => {
    await migrate(stores.config, log);
    const schema = await schemaOf(stores.config);
    await inPostgres(stores.config, 'DROP SCHEMA public CASCADE', 'DROP SCHEMA pgboss CASCADE', 'CREATE SCHEMA public');
    await dropEngineDatabase(stores.config);
    expect(await migrate(stores.config, log)).toEqual(allMigrations);
    expect(await schemaOf(stores.config)).toEqual(schema);
  });

  it('applies every migration once when two deployments run concurrently', async () => {
    const ran = await Promise.all([migrate(stores.config, log), migrate(stores.config, log)]);
    expect(ran.toSorted((one, other) => other.length - one.length)).toEqual([allMigrations, []]);
    expect(await migrationsRecorded(stores.config)).toEqual(recordedOnce(stores.config));
    expect((await schemaOf(stores.config)).postgres).toBe(readFileSync(committedDumps.postgres, 'utf8'));
  });
});

describe('migrating from a folder', () => {
  let stores: EmptyStores;
  let folder: string;

  beforeEach(async () => {
    stores = await createEmptyStores('one');
    folder = mkdtempSync(join(tmpdir(), 'inlet-migrations-'));
    cpSync('migrations', folder, { recursive: true });
  });
  afterEach(async () => {
    rmSync(folder, { recursive: true });
    await stores.drop();
  });

  const migrateControl = (): Promise<string[]> => {
    const url = stores.config.INLET_POSTGRES_URL;
    return underMigrationLock(url, (client) =>
      migratePostgres(client, { url, folder: join(folder, 'postgres'), apiRole: 'inlet_api', log: silentLog }),
    );
  };
  const migrateData = (): Promise<string[]> =>
    migrateEngine({
      shards: stores.config.INLET_CLICKHOUSE_URLS,
      database: stores.config.INLET_CLICKHOUSE_DATABASE,
      cluster: stores.config.INLET_CLICKHOUSE_CLUSTER,
      folder: join(folder, 'clickhouse'),
    });
  const lastNumber = (store: string): number => allMigrations.filter((name) => name.startsWith(store)).length;
  const add = (store: string, name: string, text: string): string => {
    const file = `${String(lastNumber(store) + 1).padStart(4, '0')}-${name}.sql`;
    writeFileSync(join(folder, store, file), text);
    return file;
  };

  it('rejects a changed file that was already applied to PostgreSQL', async () => {
    await migrateControl();
    appendFileSync(join(folder, 'postgres/0001-control-plane.sql'), '-- a word more\n');
    add('postgres', 'more', 'CREATE TABLE more (id bigint)');
    await expect(migrateControl()).rejects.toThrow('0001-control-plane.sql was changed after it ran');
    expect(await inPostgres(stores.config, `SELECT to_regclass('more') AS more`)).toEqual([{ more: null }]);
  });

  it('rejects a changed file that was already applied to ClickHouse', async () => {
    await migrateData();
    appendFileSync(join(folder, 'clickhouse/0001-data-plane.sql'), '-- a word more\n');
    add('clickhouse', 'more', 'CREATE TABLE more (id UInt64) ENGINE = MergeTree ORDER BY id;');
    await expect(migrateData()).rejects.toThrow('0001-data-plane.sql was changed after it ran');
    expect(
      await onShards(
        stores.config,
        "SELECT count() FROM system.tables WHERE database = currentDatabase() AND name = 'more'",
      ),
    ).toEqual(['0\n']);
  });

  it('applies only the added files', async () => {
    await migrateControl();
    await migrateData();
    const control = add('postgres', 'more', 'CREATE TABLE more (id bigint)');
    const data = add('clickhouse', 'more', 'CREATE TABLE more (id UInt64) ENGINE = MergeTree ORDER BY id;\n');
    expect(await migrateControl()).toEqual([control]);
    expect(await migrateData()).toEqual([data]);
  });

  it('does not block other statements while it waits for a lock, and continues once the lock is free', async () => {
    await migrateControl();
    const file = add('postgres', 'more', 'ALTER TABLE partner ADD COLUMN more text');
    const url = stores.config.INLET_POSTGRES_URL.reveal();
    const [reader, caller] = [new Client({ connectionString: url }), new Client({ connectionString: url })];
    await Promise.all([reader.connect(), caller.connect()]);
    await reader.query('BEGIN');
    await reader.query('SELECT FROM partner');
    const migrating = migrateControl();
    await waitUntil('the migration waits for the lock', async () => {
      const { rows } = await caller.query('SELECT FROM pg_locks WHERE NOT granted');
      return rows.length > 0;
    });
    const start = performance.now();
    await caller.query('SELECT FROM partner');
    expect(performance.now() - start).toBeLessThan(10_000);
    await reader.query('COMMIT');
    expect(await migrating).toEqual([file]);
    await Promise.all([reader.end(), caller.end()]);
  });

  it('rolls back a file that fails in PostgreSQL and continues after it is fixed', async () => {
    await migrateControl();
    const file = add('postgres', 'broken', 'CREATE TABLE more (id bigint); SELECT nonsense;');
    await expect(migrateControl()).rejects.toThrow(`migration ${file} failed and was rolled back`);
    expect(await inPostgres(stores.config, `SELECT to_regclass('more') AS more`)).toEqual([{ more: null }]);
    add('postgres', 'broken', 'CREATE TABLE more (id bigint)');
    expect(await migrateControl()).toEqual([file]);
  });

  it('builds an index without a transaction and replaces an invalid index left by an interrupted build', async () => {
    await migrateControl();
    const client = new Client({ connectionString: stores.config.INLET_POSTGRES_URL.reveal() });
    await client.connect();
    await client.query(`INSERT INTO sweep VALUES ('one', now()), ('two', now())`);
    await expect(
      client.query('CREATE UNIQUE INDEX CONCURRENTLY more ON sweep (date(ran_at AT TIME ZONE $$UTC$$))'),
    ).rejects.toThrow('could not create unique index');
    await client.end();
    const index = 'CREATE INDEX CONCURRENTLY IF NOT EXISTS more ON sweep (ran_at);';
    const file = add('postgres', 'more', `-- outside a transaction\n${index}\n`);
    expect(await migrateControl()).toEqual([file]);
    expect(
      await inPostgres(
        stores.config,
        `SELECT indisvalid, indisunique FROM pg_index WHERE indexrelid = 'more'::regclass`,
      ),
    ).toEqual([{ indisvalid: true, indisunique: false }]);
    expect(await migrateControl()).toEqual([]);
  });

  it('continues in ClickHouse after a file that failed halfway is fixed', async () => {
    await migrateData();
    const begun = 'CREATE TABLE IF NOT EXISTS more (id UInt64) ENGINE = MergeTree ORDER BY id;\n';
    const file = add('clickhouse', 'broken', `${begun}SELECT nonsense;\n`);
    await expect(migrateData()).rejects.toThrow('nonsense');
    add('clickhouse', 'broken', `${begun}SELECT 1;\n`);
    expect(await migrateData()).toEqual([file]);
  });
});
