import { runOperator } from '../support/run-operator.ts';
import { createEmptyStores, withDatabase } from '../support/stores.ts';
import { commandOnShard } from '../support/shard-tables.ts';
import { type Case, type Expectation, doctorNames, misconfigured } from './cases.ts';
import { type Site, findWrongNumbers } from './site.ts';

// The worker's shards are not those that hold the data.

const urlsOf = ({ stores }: Site): string[] => stores.config.INLET_CLICKHOUSE_URLS.flat().map((url) => url.reveal());

const stopped = (difference: RegExp): Expectation => ({
  reason: /topology mismatch: loads are stopped/,
  doctor: difference,
});

/** A case in which only INLET_CLICKHOUSE_URLS differs. */
const withUrls = (
  choose: (urls: readonly string[]) => readonly (string | undefined)[],
  difference: RegExp,
): Case['run'] =>
  misconfigured(
    (site) => Promise.resolve({ settings: { INLET_CLICKHOUSE_URLS: choose(urlsOf(site)).join(',') } }),
    stopped(difference),
  );

export const topologyCases: readonly Case[] = [
  {
    number: 1,
    title: 'missing shard',
    isShort: true,
    run: withUrls(([first]) => [first], /^Topology: INLET_CLICKHOUSE_URLS lists 1 shards, but 2 are recorded/),
  },
  {
    number: 2,
    title: 'swapped shards',
    run: withUrls((urls) => urls.toReversed(), /^Topology: URL 1 in INLET_CLICKHOUSE_URLS leads to shard 2/),
  },
  {
    number: 3,
    title: 'extra shard',
    run: withUrls((urls) => [...urls, urls[0]], /^Topology: INLET_CLICKHOUSE_URLS lists 3 shards/),
  },
  {
    number: 4,
    title: 'changed weight',
    run: misconfigured(
      async ({ stores }) => {
        const setWeight = (weight: number) =>
          withDatabase(stores, (client) => client.query('UPDATE shard SET weight = $1 WHERE number = 1', [weight]));
        await setWeight(2);
        return { undo: () => setWeight(1) };
      },
      stopped(/^Topology: .*\(weight 2\)/),
    ),
  },
  {
    number: 5,
    title: 'duplicate shard URL',
    run: withUrls(([first]) => [first, first], /^Topology: URL 2 in INLET_CLICKHOUSE_URLS leads to shard 1/),
  },
  {
    number: 6,
    title: 'wrong ClickHouse database',
    run: misconfigured(
      () => Promise.resolve({ settings: { INLET_CLICKHOUSE_DATABASE: 'elsewhere' } }),
      stopped(/^Topology: URL 1 .* without a shard identity/),
    ),
  },
  {
    number: 7,
    title: 'wrong cluster name',
    run: misconfigured(
      () => Promise.resolve({ settings: { INLET_CLICKHOUSE_CLUSTER: 'inlet_one' } }),
      stopped(/^Topology: The tables of shard 1 use cluster "inlet_two", not "inlet_one"/),
    ),
  },
  {
    number: 8,
    title: 'shard of another installation',
    run: misconfigured(
      async ({ stores }) => {
        const [identity] = await withDatabase(stores, async (client) => {
          const { rows } = await client.query<{ identity: string }>('SELECT identity FROM shard WHERE number = 2');
          return rows.map((row) => row.identity);
        });
        const replaceIdentity = async (value: string): Promise<void> => {
          await commandOnShard(stores, 1, 'TRUNCATE TABLE shard_identity');
          await commandOnShard(stores, 1, `INSERT INTO shard_identity (identity) SELECT ${value}`);
        };
        await replaceIdentity('generateUUIDv4()');
        return { undo: () => replaceIdentity(`'${identity}'`) };
      },
      stopped(/^Topology: .*URL 2 in INLET_CLICKHOUSE_URLS leads to an unknown shard/),
    ),
  },
  {
    number: 9,
    title: 'shards with different cluster definitions',
    run: misconfigured(
      async ({ stores }) => {
        const define = async (cluster: string): Promise<void> => {
          await commandOnShard(stores, 1, 'DROP TABLE job_keys SYNC');
          await commandOnShard(
            stores,
            1,
            `CREATE TABLE job_keys AS job_keys_local
           ENGINE = Distributed('${cluster}', currentDatabase(), 'job_keys_local', job_id)`,
          );
        };
        await define('inlet_one');
        return { undo: () => define('inlet_two') };
      },
      stopped(/^Topology: The tables of shard 2 use cluster "inlet_one", not "inlet_two"/),
    ),
  },
  {
    number: 36,
    title: 'two installations with one ClickHouse database',
    run: async (sites) => {
      const site = await sites.shared();
      const importId = await site.submit();
      const other = await createEmptyStores('two');
      try {
        const environment = { ...other.environment, INLET_CLICKHOUSE_DATABASE: site.stores.database };
        const { code, err } = await runOperator(environment, ['migrate']);
        const named = await doctorNames(environment, /^Topology: No topology is recorded/);
        await site.startWorker();
        const wrong = await findWrongNumbers(site, importId);
        const isRefused = code !== 0 && /belongs to another installation/.test(err);
        return {
          outcome: isRefused ? 'refused at start' : 'unexplained',
          says: err.trim().slice(0, 160),
          named,
          wrong,
        };
      } finally {
        await other.drop();
      }
    },
  },
  {
    number: 37,
    title: 'two installations with one PostgreSQL database',
    run: misconfigured(
      async (_site, { empty }) => {
        const { stores } = await empty();
        return { settings: { INLET_CLICKHOUSE_DATABASE: stores.database } };
      },
      stopped(/^Topology: URL 1 .* leads to an unknown shard/),
    ),
  },
];
