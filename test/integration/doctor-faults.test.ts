import { CreateBucketCommand } from '@aws-sdk/client-s3';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { livenessSessionName } from '../../src/adapters/postgres/queue/worker-liveness.ts';
import { runDoctor } from '../../src/entry/doctor/doctor.ts';
import { SettingsError } from '../../src/entry/settings-error.ts';
import { connectSharedStorage } from '../../src/entry/shared-bucket.ts';
import { readConfig } from '../../src/entry/config.ts';
import { changeEntries, syncList } from '../../src/entry/suppression.ts';
import { createPartner } from '../support/partners.ts';
import { operatorOutput } from '../support/run-operator.ts';
import { commandOnShard, commandOnShards, selectOnShards } from '../support/shard-tables.ts';
import { type TestStores, createEmptyStores, createStores, withDatabase } from '../support/stores.ts';

// Plants faults in an installation. Each fault makes several checks fail, and doctor must name the one to fix first.
// docs/operators/doctor.md lists the same faults.

type Settings = Readonly<Record<string, string>>;

type Fault = {
  readonly title: string;
  /** The check or variable that doctor must name first. */
  readonly first: string;
  readonly message: RegExp;
  readonly settings?: (stores: TestStores) => Settings | Promise<Settings>;
  readonly plant?: (stores: TestStores) => Promise<unknown>;
  readonly undo?: (stores: TestStores) => Promise<unknown>;
};

const query = (text: string) => (stores: TestStores) => withDatabase(stores, (client) => client.query(text));
const urls = ({ environment }: TestStores): string[] => (environment['INLET_CLICKHOUSE_URLS'] ?? '').split(',');
const changed = (url: string | undefined, change: (parsed: URL) => void): string => {
  const parsed = new URL(url ?? '');
  change(parsed);
  return parsed.href;
};
const postgres = (change: (parsed: URL) => void) => (stores: TestStores) => ({
  INLET_POSTGRES_URL: changed(stores.environment['INLET_POSTGRES_URL'], change),
});
/** Changes the URL of the second shard. */
const secondShard = (change: (parsed: URL) => void) => (stores: TestStores) => {
  const [first = '', second] = urls(stores);
  return { INLET_CLICKHOUSE_URLS: `${first},${changed(second, change)}` };
};
const fixed = (settings: Settings) => () => settings;
const view = 'judged_lines_to_load_counts';

const faults: readonly Fault[] = [
  // Settings
  {
    title: 'a missing setting',
    settings: fixed({ INLET_POSTGRES_URL: '' }),
    first: 'INLET_POSTGRES_URL',
    message: /^is not set$/,
  },
  {
    title: 'a sealing key that is too short',
    settings: fixed({ INLET_SEALING_KEYS: 'k1:abc' }),
    first: 'INLET_SEALING_KEYS',
    message: /64 hexadecimal digits/,
  },
  {
    title: 'an access key without its secret',
    settings: fixed({ INLET_S3_SECRET_ACCESS_KEY: '' }),
    first: 'INLET_S3_SECRET_ACCESS_KEY',
    message: /is required, because INLET_S3_ACCESS_KEY_ID is set/,
  },
  {
    title: 'a secret file that does not exist',
    settings: fixed({ INLET_POSTGRES_URL: '', INLET_POSTGRES_URL_FILE: '/nowhere' }),
    first: 'INLET_POSTGRES_URL_FILE',
    message: /cannot read the file \/nowhere/,
  },
  {
    title: 'a ClickHouse URL without a scheme',
    settings: fixed({ INLET_CLICKHOUSE_URLS: 'shard1:8123' }),
    first: 'INLET_CLICKHOUSE_URLS',
    message: /must be a URL that starts with http/,
  },
  // PostgreSQL
  {
    title: 'PostgreSQL is not running',
    settings: postgres((url) => (url.port = '9')),
    first: 'PostgreSQL',
    message: /ECONNREFUSED/,
  },
  {
    title: 'a wrong PostgreSQL password',
    settings: postgres((url) => (url.password = 'wrong')),
    first: 'PostgreSQL',
    message: /password authentication failed/,
  },
  {
    title: 'a PostgreSQL database that does not exist',
    settings: postgres((url) => (url.pathname = '/nowhere')),
    first: 'PostgreSQL',
    message: /database "nowhere" does not exist/,
  },
  {
    title: 'databases that were never migrated',
    settings: async () => (await empty).environment,
    first: 'Schema of PostgreSQL',
    message: /^no migration has run yet$/,
  },
  {
    title: 'a migration of this release that has not run',
    plant: query(`UPDATE schema_migration SET name = 'hidden' WHERE name = (SELECT max(name) FROM schema_migration)`),
    undo: (stores) => query(`UPDATE schema_migration SET name = '${newestMigration}' WHERE name = 'hidden'`)(stores),
    first: 'Schema of PostgreSQL',
    message: /^pending: \d{4}-/,
  },
  {
    title: 'a migration that was edited after it ran',
    plant: query(`UPDATE schema_migration SET checksum = 'x' || checksum WHERE name LIKE '0001-%'`),
    undo: query(`UPDATE schema_migration SET checksum = substr(checksum, 2) WHERE name LIKE '0001-%'`),
    first: 'Schema of PostgreSQL',
    message: /0001-.* was changed after it ran/,
  },
  {
    title: 'an API role that does not exist',
    settings: fixed({ INLET_API_ROLE: 'missing_role' }),
    first: 'API role',
    message: /missing_role/,
  },
  {
    title: 'an API role that sees the rows of all partners',
    plant: query('ALTER TABLE job DISABLE ROW LEVEL SECURITY'),
    undo: query('ALTER TABLE job ENABLE ROW LEVEL SECURITY'),
    first: 'API role',
    message: /sees the rows of all partners in job/,
  },
  {
    title: 'a clock that is three hours ahead',
    plant: () => Promise.resolve(vi.setSystemTime(Date.now() + 3 * 3_600_000)),
    undo: () => Promise.resolve(vi.useRealTimers()),
    first: 'Clock of PostgreSQL',
    message: /s behind this machine/,
  },
  {
    title: 'no worker',
    plant: () => fakeWorker.end(),
    undo: () => connectFakeWorker(),
    first: 'Workers',
    message: /^no worker is connected$/,
  },
  {
    title: 'an overdue rebuild of the known devices',
    plant: query(`INSERT INTO sweep (name, ran_at) VALUES ('known devices rebuilt', now() - interval '8 days 1 hour')`),
    undo: query(`DELETE FROM sweep WHERE name = 'known devices rebuilt'`),
    first: 'Known devices',
    message: /^rebuilt 8 days ago$/,
  },
  // ClickHouse
  {
    title: 'a shard that is not running',
    settings: secondShard((url) => (url.port = '9')),
    first: 'ClickHouse, shard 2',
    message: /ECONNREFUSED/,
  },
  {
    title: 'a ClickHouse host that does not exist',
    settings: secondShard((url) => (url.hostname = 'nowhere.invalid')),
    first: 'ClickHouse, shard 2',
    message: /nowhere\.invalid/,
  },
  {
    title: 'a wrong ClickHouse password',
    settings: secondShard((url) => (url.password = 'wrong')),
    first: 'ClickHouse, shard 2',
    message: /Authentication failed/,
  },
  {
    title: 'an unknown cluster',
    settings: fixed({ INLET_CLICKHOUSE_CLUSTER: 'nowhere' }),
    first: 'ClickHouse, shard 1',
    message: /cluster "nowhere" has 0 shards/,
  },
  {
    title: 'a shard that is missing from the settings',
    settings: (stores) => ({ INLET_CLICKHOUSE_URLS: urls(stores)[0] ?? '' }),
    first: 'ClickHouse, shard 1',
    message: /has 2 shards, but INLET_CLICKHOUSE_URLS lists 1/,
  },
  {
    title: 'a wrong ClickHouse database',
    settings: fixed({ INLET_CLICKHOUSE_DATABASE: 'elsewhere' }),
    first: 'Schema of shard 1',
    message: /^no migration has run yet$/,
  },
  {
    title: 'a ClickHouse user with read-only access',
    settings: secondShard((url) => url.searchParams.set('clickhouse_setting_readonly', '2')),
    first: 'Privileges on shard 2',
    message: /readonly/,
  },
  {
    title: 'shards in the wrong order',
    settings: (stores) => ({ INLET_CLICKHOUSE_URLS: urls(stores).toReversed().join(',') }),
    first: 'Topology',
    message: /leads to shard 2/,
  },
  {
    title: 'the same shard twice',
    settings: (stores) => ({ INLET_CLICKHOUSE_URLS: [urls(stores)[0], urls(stores)[0]].join(',') }),
    first: 'Topology',
    message: /URL 2 in INLET_CLICKHOUSE_URLS leads to shard 1/,
  },
  {
    title: 'a shard whose weight was changed',
    plant: query('UPDATE shard SET weight = 2 WHERE number = 1'),
    undo: query('UPDATE shard SET weight = 1 WHERE number = 1'),
    first: 'Topology',
    message: /\(weight 2\)/,
  },
  {
    title: 'a view that is missing on a shard',
    plant: (stores) => commandOnShard(stores, 0, `DROP VIEW ${view} SYNC`),
    undo: (stores) => commandOnShard(stores, 0, viewStatement),
    first: 'Tables',
    message: new RegExp(view),
  },
  {
    title: 'a column whose type was changed',
    plant: (stores) => commandOnShard(stores, 0, 'ALTER TABLE load_counts_local MODIFY COLUMN rows UInt16'),
    undo: (stores) => commandOnShard(stores, 0, 'ALTER TABLE load_counts_local MODIFY COLUMN rows UInt64'),
    first: 'Tables',
    message: /Column rows of load_counts_local on shard 1 has type UInt16/,
  },
  {
    title: 'a server without the suppression list',
    plant: async (stores) => {
      await changeEntries([randomUUID()], { isRemoval: false }, stores.config);
      await commandOnShard(stores, 1, 'TRUNCATE TABLE stand_in_key_local');
    },
    undo: ({ config }) => syncList(config),
    first: 'Suppression list',
    message: /shard 2, replica 1 has 1 of 1 hashes and 0 keys/,
  },
  {
    title: 'PostgreSQL restored from an older state than ClickHouse',
    plant: (stores) =>
      commandOnShards(
        stores,
        `INSERT INTO load_counts_local (load_id, file_id, reason, rows, bytes, first_row) VALUES (999999, 1, '', 1, 1, 1)`,
      ),
    undo: (stores) => commandOnShards(stores, 'TRUNCATE TABLE load_counts_local'),
    first: 'Load IDs',
    message: /999999/,
  },
  {
    title: 'a sealing key that was replaced',
    plant: async (stores) => {
      const { id } = await createPartner(stores.environment);
      await query(
        `WITH job AS (INSERT INTO job (partner_id, seq, kind) VALUES (${id}, 1, 'import') RETURNING id)
         INSERT INTO job_credential (job_id, key_id, sealed) SELECT id, 'gone', '\\x00' FROM job`,
      )(stores);
    },
    undo: async (stores) => {
      await query('DELETE FROM job_credential')(stores);
      await query('DELETE FROM job')(stores);
    },
    first: 'Sealing keys',
    message: /1 jobs? cannot be decrypted/,
  },
  {
    title: 'a removed sealing key that webhooks need',
    plant: async (stores) => {
      const { id } = await createPartner(stores.environment);
      await query(
        `WITH webhook AS (
           INSERT INTO webhook (partner_id, url, description) VALUES (${id}, 'https://example.com/', '') RETURNING id)
         INSERT INTO webhook_secret (webhook_id, partner_id, key_id, sealed)
           SELECT id, ${id}, 'gone', '\\x00' FROM webhook`,
      )(stores);
    },
    undo: query('DELETE FROM webhook'),
    first: 'Sealing keys',
    message: /1 webhooks cannot be decrypted.*"gone" of webhook/,
  },
  {
    title: 'a removed sealing key that deletions need',
    plant: async (stores) => {
      const { id } = await createPartner(stores.environment);
      await query(
        `INSERT INTO erasure (partner_id, requested_by, key_id, sealed) VALUES (${id}, 'a test', 'gone', '\\x00')`,
      )(stores);
    },
    undo: query('DELETE FROM erasure'),
    first: 'Sealing keys',
    message: /1 deletions cannot be decrypted.*"gone" of deletion/,
  },
  // Object storage
  {
    title: 'no identity for accessing the storage',
    settings: fixed({
      INLET_S3_ACCESS_KEY_ID: '',
      INLET_S3_SECRET_ACCESS_KEY: '',
      AWS_EC2_METADATA_DISABLED: 'true',
    }),
    first: 'Storage identity',
    message: /credentials/i,
  },
  {
    title: 'storage that is not running',
    settings: fixed({ INLET_S3_ENDPOINT: 'http://127.0.0.1:9' }),
    first: 'Shared bucket',
    message: /ECONNREFUSED/,
  },
  {
    title: 'a bucket that does not exist',
    settings: fixed({ INLET_S3_BUCKET: 'no-such-bucket' }),
    first: 'Shared bucket',
    message: /NoSuchBucket/,
  },
  {
    title: 'a wrong storage access key',
    settings: fixed({ INLET_S3_ACCESS_KEY_ID: 'WRONG' }),
    first: 'Shared bucket',
    message: /InvalidAccessKeyId/,
  },
  {
    title: 'a different bucket than before',
    settings: async ({ config, database }) => {
      const bucket = `other-${database.replaceAll('_', '-')}`;
      const s3 = connectSharedStorage(config);
      await s3.send(new CreateBucketCommand({ Bucket: bucket }));
      s3.destroy();
      return { INLET_S3_BUCKET: bucket };
    },
    first: 'Recorded bucket',
    message: /has no ID/,
  },
  {
    title: 'a different console address than before',
    settings: fixed({ INLET_CONSOLE_URL: 'http://localhost:8080' }),
    first: 'Uploads',
    message: /missing rules/,
  },
  {
    title: 'an OpenID Connect issuer that is not running',
    settings: fixed({
      INLET_OIDC_ISSUER: 'http://127.0.0.1:9',
      INLET_OIDC_AUDIENCE: 'inlet',
      INLET_OIDC_CUSTOMER_CLAIM: 'customer',
      INLET_OIDC_PARTNER_CLAIM: 'partner',
      INLET_OIDC_NETWORKS: '127.0.0.1/32',
    }),
    first: 'OpenID Connect issuer',
    message: /ECONNREFUSED/,
  },
];

let stores: TestStores;
let empty: Promise<TestStores>;
let fakeWorker: Client;
let viewStatement: string;
let newestMigration: string;

/** Opens a connection that doctor takes for a worker. A real worker would log every fault and retry. */
async function connectFakeWorker(): Promise<void> {
  fakeWorker = new Client({
    connectionString: stores.environment['INLET_POSTGRES_URL'],
    application_name: `${livenessSessionName} 1`,
  });
  await fakeWorker.connect();
}

type Named = { readonly first: string; readonly message: string };

/** Returns what doctor names first, or null if it finds no problem. */
async function firstCause(settings: Settings): Promise<Named | null> {
  for (const [name, value] of Object.entries({ ...stores.environment, ...settings })) vi.stubEnv(name, value);
  try {
    const results = await runDoctor(readConfig());
    const cause = results.find(({ isOk, causedBy }) => !isOk && causedBy === null);
    return cause ? { first: cause.name, message: cause.message } : null;
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    const [problem] = error.problems;
    return { first: problem?.variable ?? '', message: problem?.problem ?? '' };
  } finally {
    vi.unstubAllEnvs();
  }
}

describe('inlet doctor', () => {
  beforeAll(async () => {
    stores = await createStores('two');
    empty = createEmptyStores('two');
    await operatorOutput(stores.environment, ['migrate']);
    [viewStatement = ''] = (
      await selectOnShards(
        stores,
        `SELECT create_table_query FROM system.tables WHERE database = currentDatabase() AND name = '${view}'`,
      )
    ).map((text) => text.replaceAll(String.raw`\'`, "'"));
    newestMigration = await withDatabase(stores, async (client) => {
      const { rows } = await client.query<{ name: string }>('SELECT max(name) AS name FROM schema_migration');
      return rows[0]?.name ?? '';
    });
    await connectFakeWorker();
  });
  afterAll(async () => {
    await fakeWorker.end();
    await (await empty).drop();
    await stores.drop();
  });

  it('finds no problem in a correct installation', async () => {
    expect(await firstCause({})).toBeNull();
  });

  it.each(faults)('names the first cause: $title', async ({ settings, plant, undo, first, message }) => {
    const given = (await settings?.(stores)) ?? {};
    await plant?.(stores);
    try {
      expect(await firstCause(given)).toEqual({ first, message: expect.stringMatching(message) as unknown });
    } finally {
      await undo?.(stores);
    }
  });

  it('documents every planted fault', () => {
    expect(faults.length).toBeGreaterThanOrEqual(30);
    const page = readFileSync('docs/operators/doctor.md', 'utf8');
    for (const { title, first } of faults) {
      const row = page.split('\n').find((line) => line.startsWith(`| ${title} `));
      expect(row, title).toContain(`| ${first.startsWith('INLET_') ? `\`${first}\`` : first} `);
    }
  });
});
