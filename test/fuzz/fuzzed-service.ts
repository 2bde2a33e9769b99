import { operationsOf, parseOpenApi, readOpenApiText } from '../support/openapi/document.ts';
import { exampleRequests } from '../support/openapi/example-requests.ts';
import { makeExampleWorld } from '../support/openapi/example-world.ts';
import { stopProcess } from '../support/running-service.ts';
import { startAudiences } from '../support/start-audiences.ts';

export type FuzzedService = {
  readonly url: string;
  readonly pid: number;
  readonly secrets: { readonly apiKey: string; readonly userToken: string };
  readonly isRunning: () => boolean;
  readonly stop: () => Promise<void>;
};

/**
 * A heap small enough to reveal a leak: by default it may grow to gigabytes before a full garbage collection. The young
 * generation keeps its default size. Otherwise it would shrink too, and its collection would use half of the CPU.
 */
const settings = { INLET_LOG_LEVEL: 'info', NODE_OPTIONS: '--max-old-space-size=96 --max-semi-space-size=16' };

/** An API with some data of every kind. The worker is stopped, so that submitted jobs stay open, up to the limit. */
export async function startFuzzedService(): Promise<FuzzedService> {
  const { service, api, audiences, partner, stop, ...rest } = await startAudiences('fuzz', settings);
  await makeExampleWorld({ service, api, partner, stop, ...rest });
  const { userToken } = await partner.createCustomer('Acme');
  for (const operation of operationsOf(parseOpenApi(readOpenApiText())).filter(({ method }) => method === 'POST')) {
    for (const { url, ...init } of exampleRequests(operation)) await api.request(url, init);
  }
  for (const { import_log_id } of await api.list()) await api.waitForEnd(import_log_id);
  for (const { audience_id } of await audiences.list()) await audiences.settled(audience_id);
  await stopProcess(service.worker);
  const { pid } = service.api;
  if (pid === undefined) throw new Error('the API is not running');
  return {
    url: service.url,
    pid,
    secrets: { apiKey: partner.apiKey, userToken },
    isRunning: () => service.api.exitCode === null && service.api.signalCode === null,
    stop,
  };
}
