import { CreateBucketCommand } from '@aws-sdk/client-s3';
import { migratePostgres } from '../../src/adapters/postgres/db/migrate.ts';
import { underMigrationLock } from '../../src/adapters/postgres/db/migration-lock.ts';
import { ensureUploadRules } from '../../src/adapters/s3/bucket-settings.ts';
import { connectS3 } from '../../src/adapters/s3/connect.ts';
import { Secret } from '../../src/domain/secret.ts';
import { readAddresses, type StackAddresses } from '../../stack/addresses.ts';
import { consoleOrigin } from '../../stack/service-environment.ts';
import { createEngineTemplate } from './engine-template.ts';
import { testBucket } from './environment.ts';
import { forgetSecrets, rememberSecrets } from './known-secrets.ts';
import { keepRecentLogs } from './log-directory.ts';
import { removePackedPackages } from './packed-packages.ts';
import { silentLog } from './silent-log.ts';
import { endSharedServices } from './shared-service.ts';
import { withServer } from './stores.ts';
import { templateDatabase } from './template-database.ts';

/**
 * Runs once per test run. Creates the bucket, and template databases with all migrations in PostgreSQL and ClickHouse.
 */
export async function setup(): Promise<void> {
  const { postgres, clickhouse, s3 } = readAddresses();
  if (!keepRecentLogs()) forgetSecrets();
  rememberSecrets(
    new URL(postgres.url).password,
    ...clickhouse.shards.map(({ httpUrl }) => new URL(httpUrl).password),
    s3.providerSecretAccessKey,
    s3.adminSecretAccessKey,
  );
  removePackedPackages();
  await endSharedServices();
  await Promise.all([createPostgresTemplate(postgres.url), createEngineTemplate(), createTestBucket(s3)]);
}

export async function teardown(): Promise<void> {
  removePackedPackages();
  await endSharedServices();
}

async function createPostgresTemplate(server: string): Promise<void> {
  await withServer(async (client) => {
    await client.query(`DROP DATABASE IF EXISTS ${templateDatabase} WITH (FORCE)`);
    await client.query(`CREATE DATABASE ${templateDatabase}`);
  });
  const url = new URL(server);
  url.pathname = `/${templateDatabase}`;
  const template = new Secret(url.href);
  await underMigrationLock(template, (client) =>
    migratePostgres(client, { url: template, folder: 'migrations/postgres', apiRole: 'inlet_api', log: silentLog }),
  );
}

async function createTestBucket(s3: StackAddresses['s3']): Promise<void> {
  const client = connectS3({
    endpoint: s3.endpoint,
    region: s3.region,
    accessKeyId: s3.providerAccessKeyId,
    secretAccessKey: new Secret(s3.providerSecretAccessKey),
  });
  await client.send(new CreateBucketCommand({ Bucket: testBucket }));
  await ensureUploadRules(client, testBucket, consoleOrigin);
  client.destroy();
}
