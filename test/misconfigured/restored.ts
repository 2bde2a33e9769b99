import { operatorOutput, runOperator } from '../support/run-operator.ts';
import { commandOnShard, selectOnShards } from '../support/shard-tables.ts';
import { type TestStores, withServer } from '../support/stores.ts';
import { type Case, type Finding, doctorNames } from './cases.ts';
import { type Site, auditOf, findWrongNumbers, observe } from './site.ts';

// One store has lost data that the other store still contains.

/** The tables whose content a restore of a shard replaces. The shard's identity is the same in every backup. */
const tables = [
  'device_attributes_local',
  'audience_devices_local',
  'known_devices_local',
  'load_counts_local',
  'load_rejects_local',
];

/** Copies a shard. Returns a function that restores the copy. */
async function copyShard({ stores }: Site, index: number): Promise<() => Promise<void>> {
  for (const table of tables) await commandOnShard(stores, index, `CREATE TABLE ${table}_old CLONE AS ${table}`);
  return async () => {
    for (const table of tables) {
      await commandOnShard(stores, index, `TRUNCATE TABLE ${table} SYNC`);
      await commandOnShard(stores, index, `ALTER TABLE ${table} ATTACH PARTITION ALL FROM ${table}_old`);
      await commandOnShard(stores, index, `DROP TABLE ${table}_old SYNC`);
    }
  };
}

/** Loses rows after the second load, and repairs them from the source files. */
const lost =
  (prepare: (site: Site) => Promise<() => Promise<void>>, doctor: RegExp | null): Case['run'] =>
  async (sites) => {
    const site = await sites.own();
    const loseRows = await prepare(site);
    const importId = await site.submit();
    await site.startWorker();
    const before = await findWrongNumbers(site, importId);
    await loseRows();
    const audit = await auditOf(site);
    const plan = await runOperator(site.environment, ['repair']);
    const named = doctor === null ? '' : await doctorNames(site.environment, doctor);
    const done = await operatorOutput(site.environment, ['repair', '--yes']);
    const again = await operatorOutput(site.environment, ['repair']);
    return {
      outcome: audit === '' || plan.code === 0 ? 'unexplained' : 'works, numbers right',
      says: `audit: ${audit.replaceAll('\n', ' ')}`,
      named: doctor === null ? `audit: ${audit.split('\n')[0] ?? ''}` : named,
      wrong: [
        ...before,
        ...(await findWrongNumbers(site, importId)),
        ...(plan.out.includes('can be loaded again') ? [] : [`dry run: ${plan.out}${plan.err}`]),
        ...(/ 0 still incomplete/.test(done) ? [] : [`repair: ${done}`]),
        ...(/^No rows are missing/m.test(again) ? [] : [`second repair: ${again}`]),
      ],
    };
  };

const recentLoads = /^Recent loads: ClickHouse has no counts of load/;

/** Copies the PostgreSQL database, or replaces it with the copy. Clients are disconnected meanwhile. */
async function withoutConnections({ database }: TestStores, statements: readonly string[]): Promise<void> {
  await withServer(async (client) => {
    await client.query(`ALTER DATABASE ${database} ALLOW_CONNECTIONS false`);
    await client.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [database]);
    for (const statement of statements) await client.query(statement);
    await client.query(`ALTER DATABASE ${database} ALLOW_CONNECTIONS true`);
  });
}

export const restoredCases: readonly Case[] = [
  {
    number: 29,
    title: 'PostgreSQL restored from an hour ago',
    run: async (sites): Promise<Finding> => {
      const site = await sites.own();
      const { database } = site.stores;
      await withoutConnections(site.stores, [
        `CREATE DATABASE ${database}_old TEMPLATE ${database} STRATEGY FILE_COPY`,
      ]);
      const lostImport = await site.submit();
      await site.startWorker();
      const before = await findWrongNumbers(site, lostImport);
      await site.stopWorkers();
      await withoutConnections(site.stores, [
        `DROP DATABASE ${database} WITH (FORCE)`,
        `ALTER DATABASE ${database}_old RENAME TO ${database}`,
      ]);
      // The API accepts the requests again and assigns lane positions that ClickHouse already contains.
      const importId = await site.submit();
      const worker = site.launch(site.environment);
      const outcome = await observe(site, worker, importId, { reason: /PostgreSQL has assigned load IDs[^"]{0,100}/ });
      const named = await doctorNames(site.environment, /^Load IDs: PostgreSQL has assigned load IDs up to/);
      const audit = await auditOf(site);
      const planned = await operatorOutput(site.environment, ['repair', 'ids']);
      await operatorOutput(site.environment, ['repair', 'ids', '--yes']);
      return {
        outcome: outcome.is,
        says: outcome.says,
        named,
        wrong: [
          ...before,
          ...(await findWrongNumbers(site, importId)),
          ...(planned.includes('Nothing was changed') ? [] : [planned]),
          ...(audit.includes('200 rows are stored of jobs') ? [] : [`audit after the restore: ${audit}`]),
        ],
      };
    },
  },
  {
    number: 30,
    title: 'one shard restored from an hour ago',
    run: lost((site) => copyShard(site, 1), recentLoads),
  },
  {
    number: 31,
    title: 'all shards restored from an hour ago',
    run: lost(async (site) => {
      const restores = [await copyShard(site, 0), await copyShard(site, 1)];
      return async () => {
        for (const restore of restores) await restore();
      };
    }, recentLoads),
  },
  {
    number: 32,
    title: 'one shard emptied',
    run: lost(
      (site) =>
        Promise.resolve(async () => {
          for (const table of tables) await commandOnShard(site.stores, 0, `TRUNCATE TABLE ${table} SYNC`);
        }),
      recentLoads,
    ),
  },
  {
    number: 38,
    title: 'young parts lost in a power failure',
    isShort: true,
    run: lost(async (site) => {
      const parts = (): Promise<string[]> =>
        selectOnShards(
          site.stores,
          `SELECT concat(table, ' ', name) FROM system.parts WHERE active AND database = currentDatabase()
             AND table IN ('device_attributes_local', 'audience_devices_local')`,
        );
      const old = new Set(await parts());
      return async () => {
        const young = new Set(await parts()).difference(old);
        for (const part of young) {
          const [table = '', name = ''] = part.split(' ');
          for (const index of [0, 1]) {
            await commandOnShard(site.stores, index, `ALTER TABLE ${table} DROP PART '${name}'`).catch(() => undefined);
          }
        }
      };
    }, null),
  },
];
