import { DeleteObjectsCommand, ListObjectsV2Command } from '@aws-sdk/client-s3';
import { connectSharedStorage } from '../src/entry/shared-bucket.ts';
import { ClickHouseLogLevel, createClient, type ClickHouseClient } from '@clickhouse/client';
import { audienceClient, type AudienceClient } from '../test/acceptance/audience-client.ts';
import { createPartner, type TestPartner } from '../test/support/partners.ts';
import { startService, type Service } from '../test/support/running-service.ts';
import { createStores, type TestStores } from '../test/support/stores.ts';
import { setup } from '../test/support/global-setup.ts';
import type { Topology } from '../stack/service-environment.ts';

const log = { level: ClickHouseLogLevel.OFF };

export type Running = {
  readonly stores: TestStores;
  readonly topology: Topology;
  readonly service: Service;
  readonly partner: TestPartner;
  readonly audiences: AudienceClient;
  /** A client for the first shard that uses this run's database. */
  readonly engine: ClickHouseClient;
};

let prepared: Promise<void> | undefined;

/** Runs a benchmark with new, empty stores, a partner, an API process, and a worker. */
export async function withService<T>(
  topology: Topology,
  run: (running: Running) => Promise<T>,
  settings: Readonly<Record<string, string>> = {},
): Promise<T> {
  // Runs only once per process, because it recreates the template database and a benchmark can start two services.
  prepared ??= setup();
  await prepared;
  const stores = await createStores(topology);
  const partner = await createPartner(stores.environment);
  const service = await startService({ ...stores.environment, INLET_LOG_LEVEL: 'info', ...settings }, 'bench');
  const [url] = stores.config.INLET_CLICKHOUSE_URLS.flat();
  const engine = createClient({ url: url?.reveal() ?? '', database: stores.database, request_timeout: 3_600_000, log });
  try {
    const audiences = audienceClient(service.url, partner.apiKey);
    return await run({ stores, topology, service, partner, audiences, engine });
  } finally {
    await engine.close();
    await service.stop();
    await removeFiles(stores, partner.prefix);
    await stores.drop();
  }
}

/** Removes files to free space in the development storage, which holds only 4 GiB, in memory. */
export async function removeFiles({ config }: TestStores, prefix: string): Promise<void> {
  const s3 = connectSharedStorage(config);
  const Bucket = config.INLET_S3_BUCKET;
  for (;;) {
    const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket, Prefix: prefix }));
    if (Contents.length === 0) break;
    await s3.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects: Contents.map(({ Key }) => ({ Key })) } }));
  }
  s3.destroy();
}
