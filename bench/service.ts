import { ClickHouseLogLevel, createClient, type ClickHouseClient } from '@clickhouse/client';
import { audienceClient, type AudienceClient } from '../test/acceptance/audience-client.ts';
import { createPartner, type TestPartner } from '../test/support/partners.ts';
import { startService, type Service } from '../test/support/running-service.ts';
import { createStores, type TestStores } from '../test/support/stores.ts';
import { setup } from '../test/support/global-setup.ts';
import type { Topology } from '../stack/service-environment.ts';
import { removeFiles } from './files.ts';

const log = { level: ClickHouseLogLevel.OFF };

export type Running = {
  readonly stores: TestStores;
  readonly service: Service;
  readonly partner: TestPartner;
  readonly audiences: AudienceClient;
  /** The first shard's own tables, in the database of this run. */
  readonly engine: ClickHouseClient;
};

let prepared: Promise<void> | undefined;

/** Fresh stores, a partner, an api and a worker, for the time of a benchmark. */
export async function withService<T>(
  topology: Topology,
  run: (running: Running) => Promise<T>,
  settings: Readonly<Record<string, string>> = {},
): Promise<T> {
  // Once: it makes the template anew, and a benchmark may run two services at a time.
  prepared ??= setup();
  await prepared;
  const stores = await createStores(topology);
  const partner = await createPartner(stores.environment);
  const service = await startService({ ...stores.environment, INLET_LOG_LEVEL: 'info', ...settings }, 'bench');
  const [url] = stores.config.INLET_CLICKHOUSE_URLS;
  const engine = createClient({ url: url?.reveal() ?? '', database: stores.database, request_timeout: 3_600_000, log });
  try {
    const audiences = audienceClient(service.url, partner.apiKey);
    return await run({ stores, service, partner, audiences, engine });
  } finally {
    await engine.close();
    await service.stop();
    await removeFiles(stores, partner.prefix);
    await stores.drop();
  }
}
