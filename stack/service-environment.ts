import type { StackAddresses } from './addresses.ts';

export type Topology = 'one' | 'two';

/** The environment of an Inlet process that uses these servers with its own database and bucket. */
export function serviceEnvironment(
  addresses: StackAddresses,
  own: { readonly database: string; readonly bucket: string; readonly topology: Topology },
): Record<string, string> {
  const { postgres, clickhouse, s3, sealingKey } = addresses;
  const shards = own.topology === 'one' ? clickhouse.shards.slice(0, 1) : clickhouse.shards;
  const cluster = clickhouse.clusters[own.topology];
  if (cluster === undefined) throw new Error('This needs two shards. Run "npm run stack:up -- --shards 2".');
  const postgresUrl = new URL(postgres.url);
  postgresUrl.pathname = `/${own.database}`;
  return {
    INLET_ENVIRONMENT: 'test',
    INLET_POSTGRES_URL: postgresUrl.href,
    INLET_CLICKHOUSE_URLS: shards.map(({ httpUrl }) => httpUrl).join(','),
    INLET_CLICKHOUSE_DATABASE: own.database,
    INLET_CLICKHOUSE_CLUSTER: cluster,
    INLET_S3_ENDPOINT: s3.endpoint,
    INLET_S3_REGION: s3.region,
    INLET_S3_BUCKET: own.bucket,
    INLET_S3_ACCESS_KEY_ID: s3.providerAccessKeyId,
    INLET_S3_SECRET_ACCESS_KEY: s3.providerSecretAccessKey,
    INLET_PARTNER_S3_ENDPOINT: s3.endpoint,
    INLET_PARTNER_S3_NETWORKS: '127.0.0.1/32',
    INLET_SEALING_KEYS: `stack:${sealingKey}`,
    INLET_STORAGE_ADMIN_ACCESS_KEY_ID: s3.adminAccessKeyId,
    INLET_STORAGE_ADMIN_SECRET_ACCESS_KEY: s3.adminSecretAccessKey,
  };
}
