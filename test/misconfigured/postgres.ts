import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { rememberSecrets } from '../support/known-secrets.ts';
import { createOwnBucket } from '../support/own-bucket.ts';
import { type TestStores, withDatabase } from '../support/stores.ts';
import { type Case, type Expectation, misconfigured, never } from './cases.ts';
import type { Environment } from './site.ts';

// PostgreSQL has a different schema, roles, clock, or contents than the processes expect.

/** Runs a statement. `undo` is the statement that reverts it. */
const changed = (statement: string, undo: string, expected: Expectation): Case['run'] =>
  misconfigured(async ({ stores }) => {
    await run(stores, statement);
    return { undo: () => run(stores, undo) };
  }, expected);

const run = (stores: TestStores, statement: string): Promise<unknown> =>
  withDatabase(stores, (client) => client.query(statement));

const skewed = (hours: number): Environment => ({
  NODE_OPTIONS: `--import=${fileURLToPath(new URL('skewed-clock.ts', import.meta.url))}`,
  INLET_TEST_SKEW_HOURS: String(hours),
});

export const postgresCases: readonly Case[] = [
  {
    number: 15,
    title: 'older PostgreSQL schema',
    run: changed(
      `UPDATE schema_migration SET name = 'hidden ' || name WHERE name = (SELECT max(name) FROM schema_migration)`,
      `UPDATE schema_migration SET name = substr(name, 8) WHERE name LIKE 'hidden %'`,
      { reason: /The PostgreSQL schema lacks \d{4}-/, doctor: /^Schema of PostgreSQL: pending: \d{4}-/ },
    ),
  },
  {
    number: 16,
    title: 'newer PostgreSQL schema',
    run: changed(
      `INSERT INTO schema_migration (name, checksum) VALUES ('9999-next.sql', '')`,
      `DELETE FROM schema_migration WHERE name = '9999-next.sql'`,
      { reason: never, doctor: /^Schema of PostgreSQL: .* by a newer release: 9999-next\.sql/, isHarmless: true },
    ),
  },
  {
    number: 17,
    title: 'edited migration',
    run: changed(
      `UPDATE schema_migration SET checksum = 'x' || checksum WHERE name LIKE '0001-%'`,
      `UPDATE schema_migration SET checksum = substr(checksum, 2) WHERE name LIKE '0001-%'`,
      { reason: never, doctor: /^Schema of PostgreSQL: 0001-.* was changed after it ran/ },
    ),
  },
  {
    number: 18,
    title: 'changed sealing key',
    run: async (sites) => {
      const own = await createOwnBucket();
      return misconfigured(
        async (site) => {
          await own.upload('2.csv', site.secondFile);
          await site.api.queue({
            file_path: `s3://${own.bucket}/2.csv`,
            path_type: 1,
            key_type: 1,
            credentials: own.credentials,
          });
          const key = `stack:${randomBytes(32).toString('hex')}`;
          rememberSecrets(key.slice('stack:'.length));
          // The job with the credentials is the last one in the lane.
          return { settings: { INLET_SEALING_KEYS: key } };
        },
        { reason: /credentials_unreadable: [^"\\]{0,100}/, doctor: /^Sealing keys: 1 jobs cannot be decrypted/ },
      )(sites);
    },
  },
  {
    number: 19,
    title: 'missing sealing key',
    run: misconfigured(() => Promise.resolve({ settings: { INLET_SEALING_KEYS: '' } }), {
      reason: /Invalid configuration[^"]{0,120}INLET_SEALING_KEYS/s,
      doctor: /INLET_SEALING_KEYS/,
    }),
  },
  {
    number: 26,
    title: 'changed prefix of a partner',
    run: misconfigured(
      async ({ stores, partner }) => {
        const setPrefix = (prefix: string): Promise<unknown> =>
          withDatabase(stores, (client) =>
            client.query('UPDATE partner SET prefix = $1 WHERE id = $2', [prefix, partner.id]),
          );
        await setPrefix(`${partner.prefix}old/`);
        return { undo: () => setPrefix(partner.prefix) };
      },
      { reason: never, doctor: /^Prefixes of partners: files were loaded from a prefix other than/ },
    ),
  },
  {
    number: 27,
    title: 'PostgreSQL three hours ahead',
    run: misconfigured(() => Promise.resolve({ settings: skewed(-3) }), {
      reason: never,
      doctor: /^Clock of PostgreSQL: 10\d{3} s ahead of this machine/,
    }),
  },
  {
    number: 28,
    title: 'worker three hours ahead',
    run: misconfigured(() => Promise.resolve({ settings: skewed(3) }), {
      reason: never,
      doctor: /^Clock of PostgreSQL: 10\d{3} s behind this machine/,
    }),
  },
  {
    number: 34,
    title: 'API role that sees all rows',
    run: misconfigured(
      async ({ stores }) => {
        await run(stores, 'ALTER TABLE job DISABLE ROW LEVEL SECURITY');
        return { undo: () => run(stores, 'ALTER TABLE job ENABLE ROW LEVEL SECURITY') };
      },
      {
        entry: 'api',
        reason: /sees the rows of all partners in job/,
        doctor: /^API role: .* sees the rows of all partners/,
      },
    ),
  },
  {
    number: 35,
    title: 'API and worker with different databases',
    run: misconfigured(
      async (_site, { empty }) => ({ settings: (await empty()).environment, doctorSettings: {} }),
      // The worker is healthy, so only doctor names the problem.
      { reason: /"working"/, doctor: /^Workers: no worker is connected/ },
    ),
  },
];
