import { repeat } from '../../src/entry/repeat.ts';
import { foldIndex } from '../../src/usecases/index/fold-index.ts';
import { computeReports } from '../../src/usecases/report/compute-reports.ts';
import { operationsOf, parseOpenApi, readOpenApiText } from '../support/openapi/document.ts';
import { exampleRequests } from '../support/openapi/example-requests.ts';
import { makeExampleWorld } from '../support/openapi/example-world.ts';
import { stopProcess } from '../support/running-service.ts';
import { withDatabase } from '../support/stores.ts';
import { silentLog } from '../support/silent-log.ts';
import { startAudiences } from '../support/start-audiences.ts';
import { operatorHeaders } from '../support/operator-session.ts';
import { wireUp } from '../support/wired.ts';
import type { Secrets } from './arbitrary-headers.ts';

export type FuzzedService = {
  readonly url: string;
  readonly pid: number;
  readonly secrets: Secrets;
  readonly isRunning: () => boolean;
  readonly stop: () => Promise<void>;
};

/**
 * A heap that is small enough to reveal a leak. By default, the heap can grow to gigabytes before a full garbage
 * collection. The young generation keeps its default size. Otherwise, it would shrink too, and its collections would
 * take half of the CPU time.
 */
const settings = { INLET_LOG_LEVEL: 'info', NODE_OPTIONS: '--max-old-space-size=96 --max-semi-space-size=16' };

/**
 * Starts an API with data of every kind. No worker runs, so submitted jobs stay open until the limit on open jobs is
 * reached. This process computes the reports.
 */
export async function startFuzzedService(): Promise<FuzzedService> {
  const { service, api, audiences, partner, stores, stop, ...rest } = await startAudiences('fuzz', settings);
  await makeExampleWorld({ service, api, partner, stores, stop, ...rest });
  const { userToken } = await partner.createCustomer('Acme');
  const { cookie } = await operatorHeaders(stores);
  // Random requests rotate and revoke keys with low IDs.
  await withDatabase(stores, (client) => client.query(`SELECT setval('api_key_id_seq', 1000000)`));
  const { apiKey } = await partner.createKey('fuzz');
  for (const operation of operationsOf(parseOpenApi(readOpenApiText())).filter(({ method }) => method === 'POST')) {
    for (const { url, ...init } of exampleRequests(operation)) await api.request(url, init);
  }
  for (const { import_log_id } of await api.list()) await api.waitForEnd(import_log_id);
  for (const { audience_id } of await audiences.list()) await audiences.settled(audience_id);
  await stopProcess(service.worker);
  const deps = await wireUp(stores);
  const reports = repeat(
    100,
    async (signal) => {
      await foldIndex({ ...deps, log: silentLog }, signal);
      await computeReports({ ...deps, log: silentLog }, signal);
    },
    silentLog,
  );
  const { pid } = service.api;
  if (pid === undefined) throw new Error('the API is not running');
  return {
    url: service.url,
    pid,
    secrets: { apiKey, userToken, cookie },
    isRunning: () => service.api.exitCode === null && service.api.signalCode === null,
    stop: async () => {
      await reports.stop();
      await deps.close();
      await stop();
    },
  };
}
