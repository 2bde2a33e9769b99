import { join } from 'node:path';
import type { ConfigFiles } from '../files.ts';
import { stackDirectory } from '../paths.ts';
import type { State } from '../state.ts';

/**
 * The number of a ClickHouse server. Servers 1 and 2 are the first replicas of shards 1 and 2, and servers 3 and 4 are their second
 * replicas.
 */
export type ServerNumber = 1 | 2 | 3 | 4;

export function shardOf(server: ServerNumber): 1 | 2 {
  return server % 2 === 1 ? 1 : 2;
}

export function replicaOf(server: ServerNumber): 1 | 2 {
  return server <= 2 ? 1 : 2;
}

export function serverName({ replicaCount }: State, server: ServerNumber): string {
  const shard = `ClickHouse shard ${String(shardOf(server))}`;
  return replicaCount === 1 ? shard : `${shard}, replica ${String(replicaOf(server))}`;
}

/** The address at which replicas fetch parts from each other. An HTTP rule recognizes their requests by it. */
const interserverHost = '127.0.0.2';

export const clickhouseUser = 'inlet';

const memoryLimit = 6 * 1024 ** 3;

export function serverDirectory(server: ServerNumber): string {
  return join(stackDirectory, `clickhouse-${String(server)}`);
}

export function serverConfigFile(directory: string, name: 'config.xml' | 'users.xml' | 'server.json'): string {
  return join(directory, 'conf', name);
}

function shardXml({ ports, secrets }: State, servers: readonly ServerNumber[]): string {
  const replicas = servers.map(
    (server) =>
      `<replica><host>127.0.0.1</host><port>${String(ports.clickhouse[server - 1]?.tcp)}</port><user>${clickhouseUser}</user><password>${secrets.clickhouse}</password></replica>`,
  );
  return `
      <shard>
        <internal_replication>true</internal_replication>
        ${replicas.join('\n        ')}
      </shard>`;
}

/** The clusters "inlet_one" and "inlet_two" consist of the first replicas. Their tables are not replicated. */
function clustersXml(state: State): string {
  const { shardCount, replicaCount } = state;
  const first = shardXml(state, [1]);
  const two = shardCount === 2 ? `<inlet_two>${first}${shardXml(state, [2])}</inlet_two>` : '';
  const second = shardCount === 2 ? shardXml(state, [2, 4]) : '';
  const replicated =
    replicaCount === 2 ? `<inlet_replicated>${shardXml(state, [1, 3])}${second}</inlet_replicated>` : '';
  return `<inlet_one>${first}</inlet_one>${two}${replicated}`;
}

/** The configuration that a server needs for replicated tables. */
function replicationXml({ ports, zookeeperCount }: State, server: ServerNumber): string {
  const http = String(ports.clickhouse[server - 1]?.http);
  const nodes = ports.zookeeper
    .slice(0, zookeeperCount)
    .map(({ client }) => `<node><host>127.0.0.1</host><port>${String(client)}</port></node>`);
  return `<listen_host>${interserverHost}</listen_host>
  <http_handlers>
    <!-- enableReplication replaces the handler of this type. -->
    <rule>
      <full_url>http://${interserverHost}:${http}/</full_url><methods>POST</methods><handler><type>acme</type></handler>
    </rule>
    <defaults/>
  </http_handlers>
  <zookeeper>
    ${nodes.join('')}
    <session_timeout_ms>6000</session_timeout_ms>
    <operation_timeout_ms>5000</operation_timeout_ms>
    <!-- In local mode, all servers have the same UUID. With one path, they would end each other's sessions. -->
    <sessions_path>/clickhouse/sessions/${String(server)}</sessions_path>
  </zookeeper>
  <!-- Local mode removes merged parts immediately, and a server after eight minutes. -->
  <merge_tree><old_parts_lifetime>480</old_parts_lifetime></merge_tree>
  <background_fetches_pool_size>8</background_fetches_pool_size>`;
}

export function serverConfigFiles(state: State, server: ServerNumber): ConfigFiles {
  const directory = serverDirectory(server);
  const ports = state.ports.clickhouse[server - 1];
  const isReplicated = state.replicaCount === 2;
  const password = state.secrets.clickhouse;
  const interserver = isReplicated ? { host: interserverHost, port: ports?.http } : null;
  const config = `<clickhouse>
  <log-level>information</log-level>
  <logger>
    <log>${directory}/clickhouse.log</log>
    <errorlog>${directory}/clickhouse.err.log</errorlog>
    <size>50M</size>
    <count>2</count>
  </logger>
  <users_config>${serverConfigFile(directory, 'users.xml')}</users_config>
  <listen_host>127.0.0.1</listen_host>
  ${isReplicated ? replicationXml(state, server) : ''}
  <max_server_memory_usage>${String(memoryLimit)}</max_server_memory_usage>
  <!-- Local mode has hardly any background threads: these are nearer to those of a server. -->
  <background_pool_size>16</background_pool_size>
  <!-- Merges and mutations yield to statements. -->
  <os_threads_nice_value_merge_mutate>19</os_threads_nice_value_merge_mutate>
  <background_schedule_pool_size>${isReplicated ? '32' : '16'}</background_schedule_pool_size>
  <background_common_pool_size>4</background_common_pool_size>
  <background_distributed_schedule_pool_size>4</background_distributed_schedule_pool_size>
  <background_buffer_flush_schedule_pool_size>4</background_buffer_flush_schedule_pool_size>
  <query_log>
    <database>system</database>
    <table>query_log</table>
    <flush_interval_milliseconds>1000</flush_interval_milliseconds>
  </query_log>
  <!-- Where \`inlet backup\` writes. -->
  <storage_configuration><disks>
    <backups><type>local</type><path>${join(directory, 'backups')}/</path></backups>
  </disks></storage_configuration>
  <backups><allowed_disk>backups</allowed_disk></backups>
  <remote_servers>${clustersXml(state)}
  </remote_servers>
</clickhouse>
`;
  // The engine's own session runs as the user "default" with an empty password. A quota limits that user to the three
  // startup statements.
  const users = `<clickhouse>
  <profiles><default/></profiles>
  <quotas>
    <default/>
    <at_start><interval><duration>2000000000</duration><queries>3</queries></interval></at_start>
  </quotas>
  <users>
    <${clickhouseUser}>
      <password>${password}</password>
      <networks><ip>127.0.0.1</ip></networks>
      <profile>default</profile>
      <quota>default</quota>
      <access_management>1</access_management>
      <named_collection_control>1</named_collection_control>
    </${clickhouseUser}>
    <default>
      <password></password>
      <networks><ip>127.0.0.1</ip></networks>
      <profile>default</profile>
      <quota>at_start</quota>
      <grants>
        <query>GRANT SYSTEM LISTEN ON *.*</query>
        <query>GRANT SELECT ON system.numbers</query>
      </grants>
    </default>
  </users>
</clickhouse>
`;
  return new Map([
    [serverConfigFile(directory, 'config.xml'), config],
    [serverConfigFile(directory, 'users.xml'), users],
    [serverConfigFile(directory, 'server.json'), JSON.stringify({ ...ports, password, interserver })],
  ]);
}
