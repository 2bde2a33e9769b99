import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { operatorOutput } from '../../support/run-operator.ts';
import { type ServiceProcess, startApi, startWorker, stopProcess } from '../../support/running-service.ts';
import type { TestStores } from '../../support/stores.ts';
import { receiverSettings, startReceiver } from '../../support/webhook-receiver.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { createConsoleStores } from '../support/console-service.ts';
import {
  type SeededPartner,
  createLink,
  createNamedPartner,
  createSubscriptions,
  createWebhooks,
  failingPath,
  loadCustomer,
  loadData,
} from './seed.ts';
import type { Seeded } from './screens.ts';

// A service whose screens have something to show: finished and failed work, and lanes that wait.

export type ShownService = {
  readonly url: string;
  readonly stores: TestStores;
  readonly apiKey: string;
  /** The token of a customer that has audiences. */
  readonly userToken: string;
  /** Returns the URL of a one-time link to one of the customer's reports. */
  readonly createLink: () => Promise<string>;
  readonly seeded: Seeded;
  /** After this call, partners wait because a worker cannot reach the storage, and a replica is unreachable. */
  readonly breakDown: () => Promise<void>;
  readonly stop: () => Promise<void>;
};

export async function startShownService(): Promise<ShownService> {
  const { url, stores } = await createConsoleStores({ ...receiverSettings, INLET_SUBSCRIPTION_SECONDS: '1' });
  const { environment } = stores;
  const processes = new Processes(environment);
  const receiver = await startReceiver();
  receiver.reply = (path) => ({ status: path.endsWith(failingPath) ? 500 : 204 });
  const stop = async (): Promise<void> => {
    await receiver.close();
    await processes.stopAll();
    await stores.drop();
  };
  try {
    const api = await processes.start(startApi);
    const worker = await processes.start(startWorker);
    const acme = await createNamedPartner(stores, url, 'acme');
    const others = await Promise.all(
      ['northwind', 'globex', 'initech'].map((name) => createNamedPartner(stores, url, name)),
    );
    const { webhookId } = await createWebhooks(acme, receiver.url);
    const loaded = await loadData(acme, url);
    const { userToken, ...ofCustomer } = await loadCustomer(acme, url);
    const { subscriptionId } = await createSubscriptions(acme);
    await takeBackup(environment);
    const breakDown = async (): Promise<void> => {
      await processes.stop(worker);
      await retryLanes(processes, others);
      await processes.stop(api);
      await processes.start(startApi, { INLET_CLICKHOUSE_URLS: withUnreachableReplica(environment) });
    };
    return {
      url,
      stores,
      apiKey: acme.apiKey,
      userToken,
      createLink: () => createLink(acme, ofCustomer.customerSegmentId, userToken),
      seeded: { ...loaded, ...ofCustomer, failedJobId: loaded.importLogId, webhookId, subscriptionId },
      breakDown,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

class Processes {
  readonly #environment: Readonly<Record<string, string>>;
  readonly #running = new Set<ServiceProcess>();

  constructor(environment: Readonly<Record<string, string>>) {
    this.#environment = environment;
  }

  async start(entry: typeof startApi | typeof startWorker, changes = {}): Promise<ServiceProcess> {
    const started = await entry({ ...this.#environment, ...changes }, 'screens');
    this.#running.add(started);
    return started;
  }

  async stop(started: ServiceProcess): Promise<void> {
    this.#running.delete(started);
    await stopProcess(started.child);
  }

  async stopAll(): Promise<void> {
    await Promise.all([...this.#running].map((started) => this.stop(started)));
  }
}

/** A worker that cannot reach the storage keeps trying the lanes. */
async function retryLanes(processes: Processes, partners: readonly SeededPartner[]): Promise<void> {
  for (const { api } of partners) await api.queue({ file_path: 'daily/', key_type: 1, compressed: false });
  const worker = await processes.start(startWorker, { INLET_S3_ENDPOINT: 'http://127.0.0.1:9' });
  await waitUntil('the worker has tried a lane', async () =>
    Promise.resolve(readFileSync(worker.logFile, 'utf8').includes('dependency unavailable')),
  );
}

async function takeBackup(environment: Readonly<Record<string, string>>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'inlet-screens-'));
  await operatorOutput(environment, ['backup', join(folder, `inlet-${process.pid}`)]);
  rmSync(folder, { recursive: true });
}

function withUnreachableReplica(environment: Readonly<Record<string, string>>): string {
  return `${environment['INLET_CLICKHOUSE_URLS']}|http://127.0.0.1:9`;
}
