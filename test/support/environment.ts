import { readAddresses } from '../../stack/addresses.ts';
import { configSchema, type Config } from '../../src/entry/config.ts';

export type Topology = 'one' | 'two';

/** Both topologies stand on the same servers: a cluster of the first, or of both. */
export const topologies: readonly Topology[] = ['one', 'two'];

export const testBucket = 'inlet-tests';

/** The environment that points a process at the real servers and at stores of its own. */
export function environmentFor(stores: { database: string; topology: Topology }): Record<string, string> {
  const { postgres, clickhouse, s3 } = readAddresses();
  const shards = stores.topology === 'one' ? clickhouse.shards.slice(0, 1) : clickhouse.shards;
  const cluster = clickhouse.clusters[stores.topology];
  if (cluster === undefined) throw new Error('This test needs two shards: npm run stack:up -- --shards 2');
  const postgresUrl = new URL(postgres.url);
  postgresUrl.pathname = `/${stores.database}`;
  return {
    INLET_POSTGRES_URL: postgresUrl.href,
    INLET_CLICKHOUSE_URLS: shards.map(({ httpUrl }) => httpUrl).join(','),
    INLET_CLICKHOUSE_DATABASE: stores.database,
    INLET_CLICKHOUSE_CLUSTER: cluster,
    INLET_S3_ENDPOINT: s3.endpoint,
    INLET_S3_REGION: s3.region,
    INLET_S3_BUCKET: testBucket,
    INLET_S3_ACCESS_KEY_ID: s3.providerAccessKeyId,
    INLET_S3_SECRET_ACCESS_KEY: s3.providerSecretAccessKey,
    INLET_STORAGE_ADMIN_ACCESS_KEY_ID: s3.adminAccessKeyId,
    INLET_STORAGE_ADMIN_SECRET_ACCESS_KEY: s3.adminSecretAccessKey,
    INLET_API_PORT: '0',
  };
}

export function configFor(environment: Readonly<Record<string, string>>): Config {
  return configSchema.parse(environment);
}
