import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type Proxy, startProxy } from '../support/proxy.ts';
import { inletOutput } from '../support/run-inlet.ts';
import { type ServiceProcess, startApi, startWorker, stopProcess } from '../support/running-service.ts';
import { type TestStores, createEmptyStores } from '../support/stores.ts';
import { newFaultPartnerOf } from './fault-partner.ts';
import { insertKnownMembers } from './known-devices.ts';
import { type RecordingPartner, withHistory } from './partner-history.ts';
import { stagingTableBytes } from './submit-one-of-each.ts';

/** With this setting, a worker finishes what it can within two seconds and hands over the rest. */
export const graceSeconds = 12;

/** Processes of several releases on the same stores. */
export type RollingCluster = {
  readonly stores: TestStores;
  readonly storage: Proxy;
  readonly workers: Set<ServiceProcess>;
  readonly migrate: (release: string) => Promise<string>;
  readonly addApi: (release: string) => Promise<string>;
  readonly addWorker: (release: string) => Promise<ServiceProcess>;
  /** Sends SIGTERM, as a deployment does. Returns the seconds until exit and the exit code. */
  readonly terminate: (worker: ServiceProcess) => Promise<{ seconds: number; code: number | null }>;
  readonly newPartner: (release: string, url: string) => Promise<RecordingPartner>;
  readonly stop: () => Promise<void>;
};

export async function startRollingCluster(firstRelease: string): Promise<RollingCluster> {
  const stores = await createEmptyStores('two');
  const storage = await startProxy(stores.environment['INLET_S3_ENDPOINT'] ?? '');
  const environment = {
    ...stores.environment,
    INLET_S3_ENDPOINT: storage.address,
    INLET_ROOM_BYTES: String(stagingTableBytes),
    INLET_PURGE_SECONDS: '1',
    INLET_SHUTDOWN_GRACE_SECONDS: String(graceSeconds),
  };
  const apis: ServiceProcess[] = [];
  const workers = new Set<ServiceProcess>();
  const migrate = (release: string): Promise<string> => inletOutput(stores.environment, ['migrate'], release);
  await migrate(firstRelease);
  await insertKnownMembers(stores);
  return {
    stores,
    storage,
    workers,
    migrate,
    addApi: async (release) => {
      const api = await startApi(environment, 'rolling', release);
      apis.push(api);
      return api.url;
    },
    addWorker: async (release) => {
      const worker = await startWorker(environment, 'rolling', release);
      workers.add(worker);
      return worker;
    },
    terminate: async (worker) => {
      workers.delete(worker);
      const start = performance.now();
      const gone = once(worker.child, 'exit');
      worker.child.kill('SIGTERM');
      await gone;
      return { seconds: (performance.now() - start) / 1000, code: worker.child.exitCode };
    },
    newPartner: async (release, url) => withHistory(await newFaultPartnerOf(release, stores.environment, url)),
    stop: async () => {
      await Promise.all([...apis, ...workers].map(({ child }) => stopProcess(child)));
      await storage.close();
      await stores.drop();
    },
  };
}

/** Returns the number of loads that a worker has published according to its log. */
export function loadsPublishedBy({ logFile }: ServiceProcess): number {
  return readFileSync(logFile, 'utf8').split(/"committed":true,"msg":"loads (?:settled|published)"/).length - 1;
}
