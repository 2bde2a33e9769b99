import { join } from 'node:path';
import type { ConfigFiles } from '../files.ts';
import { stackDirectory } from '../paths.ts';
import type { State } from '../state.ts';

export type Shard = 1 | 2;

export const clickhouseUser = 'inlet';

const memoryLimit = 6 * 1024 ** 3;

export function shardDirectory(shard: Shard): string {
  return join(stackDirectory, `clickhouse-${String(shard)}`);
}

function shardBackups(shard: Shard): string {
  return join(shardDirectory(shard), 'backups');
}

export function shardConfigFile(directory: string, name: 'config.xml' | 'users.xml' | 'server.json'): string {
  return join(directory, 'conf', name);
}

function shardXml(tcpPort: number, password: string): string {
  return `
      <shard>
        <internal_replication>true</internal_replication>
        <replica><host>127.0.0.1</host><port>${String(tcpPort)}</port><user>${clickhouseUser}</user><password>${password}</password></replica>
      </shard>`;
}

function clustersXml({ ports, secrets, shardCount }: State): string {
  const [first, second] = ports.clickhouse.map(({ tcp }) => shardXml(tcp, secrets.clickhouse));
  const two = shardCount === 2 ? `<inlet_two>${first ?? ''}${second ?? ''}</inlet_two>` : '';
  return `<inlet_one>${first ?? ''}</inlet_one>${two}`;
}

export function shardConfigFiles(state: State, shard: Shard): ConfigFiles {
  const directory = shardDirectory(shard);
  const ports = state.ports.clickhouse[shard - 1];
  const password = state.secrets.clickhouse;
  const config = `<clickhouse>
  <log-level>information</log-level>
  <logger>
    <log>${directory}/clickhouse.log</log>
    <errorlog>${directory}/clickhouse.err.log</errorlog>
    <size>50M</size>
    <count>2</count>
  </logger>
  <users_config>${shardConfigFile(directory, 'users.xml')}</users_config>
  <max_server_memory_usage>${String(memoryLimit)}</max_server_memory_usage>
  <!-- Local mode has hardly any background threads: these are nearer to those of a server. -->
  <background_pool_size>16</background_pool_size>
  <!-- Merges and mutations yield to statements. -->
  <os_threads_nice_value_merge_mutate>19</os_threads_nice_value_merge_mutate>
  <background_schedule_pool_size>16</background_schedule_pool_size>
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
    <backups><type>local</type><path>${shardBackups(shard)}/</path></backups>
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
    [shardConfigFile(directory, 'config.xml'), config],
    [shardConfigFile(directory, 'users.xml'), users],
    [shardConfigFile(directory, 'server.json'), JSON.stringify({ ...ports, password })],
  ]);
}
