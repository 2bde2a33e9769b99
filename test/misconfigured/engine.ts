import { operatorOutput } from '../support/run-operator.ts';
import { commandOnShard, commandOnShards, selectOnShards } from '../support/shard-tables.ts';
import { withDatabase } from '../support/stores.ts';
import { type Case, type Expectation, misconfigured, never } from './cases.ts';
import type { Environment, Site } from './site.ts';

// The shards have a different schema, users, or limits than Inlet expects.

const stopped = (doctor: RegExp): Expectation => ({ reason: /topology mismatch: loads are stopped/, doctor });

/** The environment of a worker whose ClickHouse profile contains this setting. */
function withProfile({ stores }: Site, setting: string, value: string): Environment {
  const urls = stores.config.INLET_CLICKHOUSE_URLS.flat().map((url) => {
    const address = new URL(url.reveal());
    address.searchParams.set(`clickhouse_setting_${setting}`, value);
    return address.href;
  });
  return { INLET_CLICKHOUSE_URLS: urls.join(',') };
}

export const engineCases: readonly Case[] = [
  {
    number: 10,
    title: 'older ClickHouse schema',
    run: misconfigured(
      async ({ stores, environment }) => {
        await commandOnShard(stores, 1, 'ALTER TABLE load_counts_local DROP COLUMN staged_rows');
        await commandOnShard(
          stores,
          1,
          `ALTER TABLE schema_migration DELETE WHERE startsWith(name, '0005') SETTINGS mutations_sync = 1`,
        );
        return { undo: () => operatorOutput(environment, ['migrate']) };
      },
      stopped(/^Tables: Column staged_rows of load_counts_local on shard 2 is missing/),
    ),
  },
  {
    number: 11,
    title: 'newer ClickHouse schema',
    run: misconfigured(
      async ({ stores }) => {
        await commandOnShards(stores, `INSERT INTO schema_migration (name, checksum) VALUES ('9999-next.sql', '')`);
        const undo = (): Promise<void> =>
          commandOnShards(
            stores,
            `ALTER TABLE schema_migration DELETE WHERE name = '9999-next.sql' SETTINGS mutations_sync = 1`,
          );
        return { undo };
      },
      { reason: never, doctor: /^Schema of shard 1: .* by a newer release: 9999-next\.sql/, isHarmless: true },
    ),
  },
  {
    number: 12,
    title: 'missing view on a shard',
    isShort: true,
    run: misconfigured(
      async ({ stores }) => {
        const view = 'judged_lines_to_load_counts';
        const [statement = ''] = await selectOnShards(
          stores,
          `SELECT create_table_query FROM system.tables WHERE database = currentDatabase() AND name = '${view}'`,
        );
        await commandOnShard(stores, 0, `DROP VIEW ${view} SYNC`);
        return { undo: () => commandOnShard(stores, 0, statement.replaceAll(String.raw`\'`, "'")) };
      },
      stopped(/^Tables: Shard 1 has no table or view judged_lines_to_load_counts/),
    ),
  },
  {
    number: 13,
    title: 'missing table on a shard',
    run: misconfigured(
      async ({ stores }) => {
        await commandOnShard(stores, 1, 'RENAME TABLE load_rejects_local TO hidden');
        return { undo: () => commandOnShard(stores, 1, 'RENAME TABLE hidden TO load_rejects_local') };
      },
      stopped(/^Tables: Shard 2 has no table or view load_rejects_local/),
    ),
  },
  {
    number: 14,
    title: 'changed column type',
    run: misconfigured(
      async ({ stores }) => {
        const setType = (type: string): Promise<void> =>
          commandOnShard(stores, 0, `ALTER TABLE load_counts_local MODIFY COLUMN rows ${type}`);
        await setType('UInt16');
        return { undo: () => setType('UInt64') };
      },
      stopped(/^Tables: Column rows of load_counts_local on shard 1 has type UInt16, not UInt64/),
    ),
  },
  {
    number: 33,
    title: 'read-only ClickHouse profile',
    run: misconfigured((site) => Promise.resolve({ settings: withProfile(site, 'readonly', '1') }), {
      reason: /in readonly mode/,
      doctor: /^ClickHouse, shard 1: .*in readonly mode|^Privileges on shard 1: .*readonly/,
    }),
  },
  {
    number: 39,
    title: 'other time zones',
    run: misconfigured(
      async (site) => {
        const { database } = site.stores;
        const change = (statement: string) =>
          withDatabase(site.stores, (client) => client.query(`ALTER DATABASE ${database} ${statement}`));
        await change(`SET timezone = 'Pacific/Kiritimati'`);
        return {
          settings: withProfile(site, 'session_timezone', 'Pacific/Pago_Pago'),
          undo: () => change('RESET timezone'),
        };
      },
      { reason: never, doctor: /^Clock of shard 1: .* time zone Pacific\/Pago_Pago/, isHarmless: true },
    ),
  },
  {
    number: 40,
    title: 'ClickHouse profile with too little memory',
    run: misconfigured(
      (site) => Promise.resolve({ settings: withProfile(site, 'max_memory_usage_for_user', '2000000') }),
      {
        reason: /memory limit exceeded/i,
        doctor: /memory limit exceeded|^Lanes: .* waiting for a retry/i,
      },
    ),
  },
];
