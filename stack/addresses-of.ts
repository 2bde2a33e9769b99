import type { StackAddresses } from './addresses.ts';
import { s3Endpoint } from './ceph/config.ts';
import { clickhouseUser, replicaOf, type ServerNumber } from './clickhouse/config.ts';
import { serverNumbers, serverPid, serverPorts } from './clickhouse/lifecycle.ts';
import { stackDirectory } from './paths.ts';
import { postgresUrl } from './postgres/config.ts';
import type { State } from './state.ts';
import { zookeeperMembers, zookeeperPid, zookeeperPort } from './zookeeper/lifecycle.ts';

export function addressesOf(state: State): StackAddresses {
  const { secrets } = state;
  const servers = serverNumbers(state);
  const addressOf = (server: ServerNumber): StackAddresses['clickhouse']['shards'][number] => {
    const { http, tcp } = serverPorts(state, server);
    return {
      httpUrl: `http://${clickhouseUser}:${secrets.clickhouse}@127.0.0.1:${String(http)}`,
      httpPort: http,
      tcpPort: tcp,
      pid: serverPid(server) ?? 0,
    };
  };
  return {
    directory: stackDirectory,
    postgres: { url: postgresUrl(state) },
    clickhouse: {
      shards: servers.filter((server) => replicaOf(server) === 1).map(addressOf),
      secondReplicas: servers.filter((server) => replicaOf(server) === 2).map(addressOf),
      clusters: {
        one: 'inlet_one',
        ...(state.shardCount === 2 ? { two: 'inlet_two' } : {}),
        ...(state.replicaCount === 2 ? { replicated: 'inlet_replicated' } : {}),
      },
      zookeepers: zookeeperMembers(state).map((member) => ({
        port: zookeeperPort(state, member),
        pid: zookeeperPid(member) ?? 0,
      })),
    },
    sealingKey: secrets.sealing,
    s3: {
      endpoint: s3Endpoint(state),
      region: 'us-east-1',
      providerAccessKeyId: secrets.providerAccessKeyId,
      providerSecretAccessKey: secrets.providerSecretAccessKey,
      adminAccessKeyId: secrets.adminAccessKeyId,
      adminSecretAccessKey: secrets.adminSecretAccessKey,
    },
  };
}
