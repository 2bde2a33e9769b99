import type { StackAddresses } from './addresses.ts';
import { s3Endpoint } from './ceph/config.ts';
import { clickhouseUser } from './clickhouse/config.ts';
import { shardNumbers, shardPid, shardPorts } from './clickhouse/lifecycle.ts';
import { stackDirectory } from './paths.ts';
import { postgresUrl } from './postgres/config.ts';
import type { State } from './state.ts';

export function addressesOf(state: State): StackAddresses {
  const { secrets } = state;
  return {
    directory: stackDirectory,
    postgres: { url: postgresUrl(state) },
    clickhouse: {
      shards: shardNumbers(state).map((shard) => {
        const { http, tcp } = shardPorts(state, shard);
        return {
          httpUrl: `http://${clickhouseUser}:${secrets.clickhouse}@127.0.0.1:${String(http)}`,
          httpPort: http,
          tcpPort: tcp,
          pid: shardPid(shard) ?? 0,
        };
      }),
      clusters: { one: 'inlet_one', ...(state.shardCount === 2 ? { two: 'inlet_two' } : {}) },
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
