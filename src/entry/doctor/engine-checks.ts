import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { text } from 'node:stream/consumers';
import type { Secret } from '../../domain/secret.ts';
import type { Config } from '../config.ts';
import { engineTlsOf } from '../store-tls-settings.ts';
import { type Check, clockRemedy, describeClock } from './run-checks.ts';
import { schemaCheck, schemaCheckName } from './schema-check.ts';

const leastFreeShare = 0.1;
const stuckMinutes = 30;
const privileges = [
  'SELECT, INSERT, ALTER, TRUNCATE, CREATE TABLE, CREATE VIEW, DROP TABLE, DROP VIEW ON {database}.*',
  'SELECT ON system.*',
  'KILL QUERY ON *.*',
];

const replicaPrivileges = ['SYSTEM SYNC REPLICA, SYSTEM DROP REPLICA ON {database}.*'];

/** A server and its name in messages, for example "shard 1" or "shard 1, replica 2". */
type NamedServer = { readonly url: Secret; readonly name: string; readonly hasReplicas: boolean };

function serversOf({ INLET_CLICKHOUSE_URLS: shards }: Config): NamedServer[] {
  return shards.flatMap((replicas, index) =>
    replicas.map((url, replica) => {
      const hasReplicas = replicas.length > 1;
      return { url, hasReplicas, name: `shard ${index + 1}${hasReplicas ? `, replica ${replica + 1}` : ''}` };
    }),
  );
}

const connectionCheckName = (server: string): string => `ClickHouse, ${server}`;

/** The checks without which statements on the tables of every shard fail. */
export function dataPlane(config: Config): string[] {
  return serversOf(config).flatMap(({ name }) => [connectionCheckName(name), schemaCheckName(name)]);
}

export function engineChecks(config: Config): Check[] {
  const tls = engineTlsOf(config);
  return serversOf(config).flatMap(({ url, name, hasReplicas }) => {
    const ask = async <T>(run: (client: ClickHouseClient) => Promise<T>): Promise<T> => {
      const client = createClient({
        url: url.reveal(),
        application: 'inlet-doctor',
        request_timeout: 4_000,
        log: { level: ClickHouseLogLevel.OFF },
        ...(tls ? { tls } : {}),
      });
      try {
        return await run(client);
      } finally {
        await client.close();
      }
    };
    const select = <Row>(query: string): Promise<Row[]> =>
      ask(async (client) =>
        (
          await client.query({
            query,
            query_params: { database: config.INLET_CLICKHOUSE_DATABASE, cluster: config.INLET_CLICKHOUSE_CLUSTER },
            format: 'JSONEachRow',
          })
        ).json<Row>(),
      );
    return [
      {
        name: connectionCheckName(name),
        needs: [],
        remedy:
          'Start this server, or fix its address in INLET_CLICKHOUSE_URLS. Until then, loads wait, because they need every shard, with at least INLET_REPLICAS_REQUIRED replicas each.',
        run: async () => {
          const [row] = await select<{ version: string; shards: string }>(
            `SELECT version() AS version,
               (SELECT toString(uniq(shard_num)) FROM system.clusters WHERE cluster = {cluster: String}) AS shards`,
          );
          const expected = config.INLET_CLICKHOUSE_URLS.length;
          if (Number(row?.shards) !== expected) {
            throw new Error(
              `cluster "${config.INLET_CLICKHOUSE_CLUSTER}" has ${row?.shards} shards, but INLET_CLICKHOUSE_URLS lists ${expected}`,
            );
          }
          return `version ${row?.version}, ${expected} shards`;
        },
      },
      schemaCheck(name, 'clickhouse', {
        needs: [connectionCheckName(name)],
        listDone: () => select('SELECT name, checksum FROM {database: Identifier}.schema_migration'),
      }),
      {
        name: `Clock of ${name}`,
        needs: [connectionCheckName(name)],
        remedy: clockRemedy,
        run: async () => {
          const [row] = await select<{ now: string; zone: string }>(
            'SELECT toString(toUnixTimestamp64Milli(now64(3))) AS now, timezone() AS zone',
          );
          return describeClock(Number(row?.now), row?.zone ?? '');
        },
      },
      {
        name: `Privileges on ${name}`,
        needs: [connectionCheckName(name)],
        remedy:
          'Grant the privilege to the user in INLET_CLICKHOUSE_URLS. Until then, loads and deletes fail and are retried.',
        run: async () => {
          const [profile] = await select<{ level: string }>(`SELECT toString(getSetting('readonly')) AS level`);
          if (profile?.level !== '0') throw new Error('the profile of the user is readonly');
          const missing: string[] = [];
          for (const privilege of [...privileges, ...(hasReplicas ? replicaPrivileges : [])]) {
            // This statement has neither parameters nor a FORMAT clause.
            const named = privilege.replace(
              '{database}',
              `\`${config.INLET_CLICKHOUSE_DATABASE.replaceAll('`', '')}\``,
            );
            const result = await ask(async (client) =>
              text((await client.exec({ query: `CHECK GRANT ${named}` })).stream),
            );
            if (result.trim() !== '1') missing.push(named);
          }
          if (missing.length > 0) throw new Error(`the user lacks ${missing.join('; ')}`);
          return 'sufficient';
        },
      },
      {
        name: `Disk of ${name}`,
        needs: [connectionCheckName(name)],
        remedy:
          'Free disk space or add a disk. A merge needs as much free space as it reads. Loads wait while the disk is full.',
        run: async () => {
          const disks = await select<{ name: string; free: string; total: string }>(
            'SELECT name, toString(free_space) AS free, toString(total_space) AS total FROM system.disks',
          );
          const full = disks.find(({ free, total }) => Number(free) < leastFreeShare * Number(total));
          if (full)
            throw new Error(`disk ${full.name} has ${gigabytes(full.free)} of ${gigabytes(full.total)} GB free`);
          return disks
            .map((disk) => `${disk.name}: ${gigabytes(disk.free)} of ${gigabytes(disk.total)} GB free`)
            .join(', ');
        },
      },
      {
        name: `Damaged parts of ${name}`,
        needs: [connectionCheckName(name)],
        remedy:
          'ClickHouse removed these parts, for example after a power failure, so rows may be missing. Run `inlet audit` to find the jobs and audiences, and `inlet repair` to load their files again.',
        run: async () => {
          const [row] = await select<{ parts: string; table: string }>(
            `SELECT toString(count()) AS parts, any(table) AS table FROM system.detached_parts
             WHERE database = {database: String} AND startsWith(reason, 'broken')`,
          );
          if (Number(row?.parts) > 0) throw new Error(`${row?.parts} damaged parts, for example in ${row?.table}`);
          return 'none';
        },
      },
      {
        name: `Mutations of ${name}`,
        needs: [connectionCheckName(name)],
        remedy:
          'Find the reason in system.mutations and run KILL MUTATION. Inlet then starts the delete or purge again.',
        run: async () => {
          const [row] = await select<{ open: string; stuck: string; reason: string }>(
            `SELECT toString(count()) AS open, toString(countIf(create_time < now() - INTERVAL ${stuckMinutes} MINUTE)) AS stuck,
               any(latest_fail_reason) AS reason
             FROM system.mutations WHERE database = {database: String} AND NOT is_done`,
          );
          if (Number(row?.stuck) > 0) {
            throw new Error(`${row?.stuck} mutations are unfinished after ${stuckMinutes} minutes. ${row?.reason}`);
          }
          return `${row?.open} running`;
        },
      },
      ...(hasReplicas ? [replicationCheck(name, select)] : []),
    ];
  });
}

const maxDelaySeconds = 60;

function replicationCheck(name: string, select: <Row>(query: string) => Promise<Row[]>): Check {
  return {
    name: `Replication of ${name}`,
    needs: [connectionCheckName(name), schemaCheckName(name)],
    remedy:
      'If tables are read-only, check ClickHouse Keeper and its connection to this server. If the replica is behind, check the network between the replicas and the free disk space. See system.replication_queue for the last error.',
    run: async () => {
      const [row] = await select<{ tables: string; readonly: string; delay: string; queue: string; lost: string }>(
        `SELECT toString(count()) AS tables, toString(countIf(is_readonly OR is_session_expired)) AS readonly,
           toString(max(absolute_delay)) AS delay, toString(sum(queue_size)) AS queue, toString(sum(lost_part_count)) AS lost
         FROM system.replicas WHERE database = {database: String}`,
      );
      if (Number(row?.tables) === 0) throw new Error('its tables are not replicated');
      if (Number(row?.readonly) > 0) throw new Error(`${row?.readonly} of ${row?.tables} tables are read-only`);
      if (Number(row?.delay) > maxDelaySeconds) throw new Error(`it is ${row?.delay} s behind the other replicas`);
      if (Number(row?.lost) > 0) throw new Error(`${row?.lost} parts were lost before another replica had them`);
      return `${row?.tables} tables, ${row?.queue} queued tasks`;
    },
  };
}

function gigabytes(bytes: string): string {
  return (Number(bytes) / 1e9).toFixed(1);
}
