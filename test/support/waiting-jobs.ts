import { cancelJob } from '../../src/usecases/admin/manage-jobs.ts';
import { type ApiClient, apiClient } from '../acceptance/api-client.ts';
import { type AudienceClient, audienceClient } from '../acceptance/audience-client.ts';
import { device } from './device-id.ts';
import { rows } from './file-rows.ts';
import { metricsOf } from './metrics.ts';
import { type TestPartner, createPartner } from './partners.ts';
import { type ServiceProcess, startApi, startWorker, stopProcess } from './running-service.ts';
import { type TestStores, createStores, withDatabase } from './stores.ts';
import { wireUp } from './wired.ts';

export type WaitingJobs = {
  readonly stores: TestStores;
  readonly partner: TestPartner;
  readonly service: ServiceProcess & { readonly url: string };
  readonly api: ApiClient;
  readonly audiences: AudienceClient;
  readonly startWorker: (more?: Readonly<Record<string, string>>) => Promise<ServiceProcess>;
  /** Creates a job that stays open, because no worker runs. */
  readonly queue: () => Promise<number>;
  /** Cancels a waiting job from a process that is neither the API nor a worker. */
  readonly cancel: (jobId: number) => Promise<void>;
  /** Returns the milliseconds since the job ended, by the database's clock. */
  readonly sinceEnd: (jobId: number) => Promise<number>;
  /** Returns the connections on which the API listens for changes. */
  readonly listeners: () => Promise<number[]>;
  readonly endListeners: () => Promise<number>;
  /** Returns how many times the API has called each method of its stores. */
  readonly callsOf: (port: string, method: string) => Promise<number>;
  readonly stop: () => Promise<void>;
};

/** Creates a partner and starts an API without a worker, so that jobs stay open for as long as a test needs. */
export async function startWaitingJobs(
  label: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<WaitingJobs> {
  const stores = await createStores('two');
  const environment = { ...stores.environment, INLET_METRICS_PORT: '0', ...settings };
  const partner = await createPartner(stores.environment);
  await partner.createAttribute('sport', 'sport');
  await partner.upload('a.csv', `${device(1)},sport\n`);
  await partner.upload('members/1.csv', rows(0, 5));
  await partner.upload('members/2.csv', rows(3, 9));
  const service = await startApi(environment, label);
  const workers: ServiceProcess[] = [];
  const operator = await wireUp(stores);
  const api = apiClient(service.url, partner.apiKey);
  const ofChanges = "application_name = 'inlet-api-changes' AND datname = current_database()";
  return {
    stores,
    partner,
    service,
    api,
    audiences: audienceClient(service.url, partner.apiKey),
    startWorker: async (more = {}) => {
      const worker = await startWorker({ ...stores.environment, ...more }, label);
      workers.push(worker);
      return worker;
    },
    queue: () => api.queue({ file_path: 'a.csv', key_type: 1 }),
    cancel: async (jobId) => {
      await cancelJob(operator, jobId);
    },
    sinceEnd: (jobId) =>
      withDatabase(stores, async (client) => {
        const { rows: found } = await client.query<{ ms: number }>(
          'SELECT extract(epoch FROM clock_timestamp() - finished_at)::float8 * 1000 AS ms FROM job WHERE id = $1',
          [jobId],
        );
        return found[0]?.ms ?? Number.NaN;
      }),
    listeners: () =>
      withDatabase(stores, async (client) => {
        const found = await client.query<{ pid: number }>(`SELECT pid FROM pg_stat_activity WHERE ${ofChanges}`);
        return found.rows.map(({ pid }) => pid);
      }),
    endListeners: () =>
      withDatabase(stores, async (client) => {
        const ended = await client.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${ofChanges}`);
        return ended.rowCount ?? 0;
      }),
    callsOf: async (port, method) => {
      const name = `inlet_call_seconds_count{server="postgres",port="${port}",method="${method}"} `;
      const line = (await metricsOf(service)).split('\n').find((shown) => shown.startsWith(name));
      return Number(line?.slice(name.length) ?? 0);
    },
    stop: async () => {
      await Promise.all([service, ...workers].map(({ child }) => stopProcess(child)));
      await operator.close();
      await stores.drop();
    },
  };
}
