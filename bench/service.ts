import { gzipSync } from 'node:zlib';
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
  readonly service: Service;
  readonly partner: TestPartner;
  readonly audiences: AudienceClient;
  /** The first shard's own tables, in the database of this run. */
  readonly engine: ClickHouseClient;
};

/** Fresh stores, a partner, an api and a worker, for the time of a benchmark. */
export async function withService<T>(topology: Topology, run: (running: Running) => Promise<T>): Promise<T> {
  await setup();
  const stores = await createStores(topology);
  const partner = await createPartner(stores.environment);
  const service = await startService({ ...stores.environment, INLET_LOG_LEVEL: 'info' }, 'bench');
  const [url] = stores.config.INLET_CLICKHOUSE_URLS;
  const engine = createClient({ url: url?.reveal() ?? '', database: stores.database, request_timeout: 3_600_000, log });
  try {
    const audiences = audienceClient(service.url, partner.apiKey);
    return await run({ stores, service, partner, audiences, engine });
  } finally {
    await engine.close();
    await service.stop();
    await stores.drop();
  }
}

/** The device of a number, in SQL and everywhere the same. */
export const deviceSql = (number: string): string => `reinterpretAsUUID(sipHash128(${number}))`;

/** A file of two columns, made by the engine. */
export async function memberFile(
  running: Running,
  numbers: { readonly from: number; readonly count: number },
  isGzip: boolean,
): Promise<Buffer> {
  const [url] = running.stores.config.INLET_CLICKHOUSE_URLS;
  const address = new URL(url?.reveal() ?? '');
  const authorization = `Basic ${Buffer.from(`${address.username}:${address.password}`).toString('base64')}`;
  const answer = await fetch(address.origin, {
    method: 'POST',
    headers: { authorization, 'accept-encoding': 'identity' },
    body: `SELECT concat(toString(${deviceSql('number')}), ',') FROM numbers(${numbers.from}, ${numbers.count}) FORMAT TSVRaw`,
  });
  if (!answer.ok) throw new Error(await answer.text());
  const text = Buffer.from(await answer.arrayBuffer());
  return isGzip ? gzipSync(text, { level: 1 }) : text;
}
