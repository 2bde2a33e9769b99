import type { StackAddresses } from './addresses.ts';

/** One shard, two shards, or two shards with two replicas each. */
export type Topology = 'one' | 'two' | 'replicated';

/** The public origin of the api. */
export const consoleOrigin = 'http://127.0.0.1';

/** The environment of an Inlet process that uses these servers with its own database and bucket. */
export function serviceEnvironment(
  addresses: StackAddresses,
  own: { readonly database: string; readonly bucket: string; readonly topology: Topology },
): Record<string, string> {
  const { postgres, clickhouse, s3, sealingKey } = addresses;
  const shards = own.topology === 'one' ? clickhouse.shards.slice(0, 1) : clickhouse.shards;
  const cluster = clickhouse.clusters[own.topology];
  if (cluster === undefined) {
    const option = own.topology === 'two' ? '--shards 2' : '--replicas 2';
    throw new Error(`This needs more servers. Run "npm run stack:up -- ${option}".`);
  }
  const replicas = own.topology === 'replicated' ? clickhouse.secondReplicas : [];
  const urls = shards.map((shard, index) => [shard, ...replicas.slice(index, index + 1)].map(({ httpUrl }) => httpUrl));
  const postgresUrl = new URL(postgres.url);
  postgresUrl.pathname = `/${own.database}`;
  return {
    INLET_ENVIRONMENT: 'test',
    INLET_POSTGRES_URL: postgresUrl.href,
    INLET_CLICKHOUSE_URLS: urls.map((ofShard) => ofShard.join('|')).join(','),
    INLET_CLICKHOUSE_DATABASE: own.database,
    INLET_CLICKHOUSE_CLUSTER: cluster,
    INLET_S3_ENDPOINT: s3.endpoint,
    INLET_S3_REGION: s3.region,
    INLET_S3_BUCKET: own.bucket,
    INLET_S3_ACCESS_KEY_ID: s3.providerAccessKeyId,
    INLET_S3_SECRET_ACCESS_KEY: s3.providerSecretAccessKey,
    INLET_PARTNER_S3_ENDPOINT: s3.endpoint,
    INLET_PARTNER_S3_NETWORKS: '127.0.0.1/32',
    // The port of a test's api is not known here. This address is used only in links that the api creates.
    INLET_CONSOLE_URL: consoleOrigin,
    INLET_CONSOLE_API_KEY_SIGN_IN: 'true',
    INLET_SEALING_KEYS: `stack:${sealingKey}`,
    INLET_STORAGE_ADMIN_ACCESS_KEY_ID: s3.adminAccessKeyId,
    INLET_STORAGE_ADMIN_SECRET_ACCESS_KEY: s3.adminSecretAccessKey,
  };
}
