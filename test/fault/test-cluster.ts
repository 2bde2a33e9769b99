import type { Topology } from '../../stack/service-environment.ts';
import { type Proxy, startProxy } from '../support/proxy.ts';
import { type ServiceProcess, startApi, startWorker, stopProcess } from '../support/running-service.ts';
import { type TestStores, createStores } from '../support/stores.ts';
import { type Wired, wireUp } from '../support/wired.ts';
import { audit, waitForCleanAudit } from './auditor.ts';
import { type FaultPartner, newFaultPartner } from './fault-partner.ts';
import { insertKnownMembers } from './known-devices.ts';

type ApiProcess = ServiceProcess & { readonly url: string };

/** API and worker processes that connect to every server through a proxy. */
export type TestCluster = {
  readonly stores: TestStores;
  readonly url: string;
  readonly apis: Set<ApiProcess>;
  readonly workers: Set<ServiceProcess>;
  readonly proxies: { readonly postgres: Proxy; readonly engine: readonly Proxy[]; readonly storage: Proxy };
  readonly deps: Wired;
  readonly addWorker: (settings?: Readonly<Record<string, string>>) => Promise<ServiceProcess>;
  readonly addApi: () => Promise<ApiProcess>;
  readonly newPartner: () => Promise<FaultPartner>;
  /** Returns the auditor's findings after all work is done. */
  readonly auditAtEnd: (partners: readonly FaultPartner[], seconds?: number) => Promise<string[]>;
  readonly unexpectedExits: () => string[];
  readonly stop: () => Promise<void>;
};

export async function startTestCluster(
  label: string,
  options: {
    topology: Topology;
    workers: number;
    settings?: Readonly<Record<string, string>>;
    /** The source tree of the processes. By default, this repository. */
    tree?: string;
    /** The stores. By default, new databases on the stack's servers. */
    stores?: TestStores;
  },
): Promise<TestCluster> {
  const stores = options.stores ?? (await createStores(options.topology));
  await insertKnownMembers(stores);
  const {
    INLET_POSTGRES_URL: database = '',
    INLET_CLICKHOUSE_URLS: shards = '',
    INLET_S3_ENDPOINT: bucket = '',
  } = stores.environment;
  const postgres = await startProxy(database);
  const engine = await Promise.all(shards.split(/[,|]/).map(startProxy));
  // Keeps the separators between shards and replicas.
  const addresses = engine.map(({ address }) => address).values();
  const proxied = shards.replaceAll(/[^,|]+/g, () => addresses.next().value ?? '');
  const storage = await startProxy(bucket);
  const environment = {
    ...stores.environment,
    INLET_POSTGRES_URL: postgres.address,
    INLET_CLICKHOUSE_URLS: proxied,
    INLET_S3_ENDPOINT: storage.address,
    INLET_PARTNER_S3_ENDPOINT: storage.address,
    ...options.settings,
  };
  // The test itself bypasses the proxies.
  const deps = await wireUp(stores);
  const apis = new Set<ApiProcess>();
  const addApi = async (): Promise<ApiProcess> => {
    const api = await startApi(environment, label, options.tree);
    apis.add(api);
    return api;
  };
  const { url } = await addApi();
  const workers = new Set<ServiceProcess>();
  const addWorker = async (settings: Readonly<Record<string, string>> = {}): Promise<ServiceProcess> => {
    const worker = await startWorker({ ...environment, ...settings }, label, options.tree);
    workers.add(worker);
    return worker;
  };
  for (let n = 0; n < options.workers; n++) await addWorker();
  const unexpectedExits = (): string[] => [...apis, ...workers].flatMap(unexpectedExit);
  const proxies = { postgres, engine, storage };
  return {
    stores,
    deps,
    url,
    apis,
    workers,
    proxies,
    addWorker,
    addApi,
    newPartner: () => newFaultPartner(deps, stores, url),
    unexpectedExits,
    auditAtEnd: (partners, seconds = 60) =>
      waitForCleanAudit(async () => [...(await audit(stores, partners)), ...unexpectedExits()], seconds),
    stop: async () => {
      for (const proxy of [proxies.postgres, ...proxies.engine, proxies.storage]) proxy.make({ is: 'none' });
      await Promise.all([...apis, ...workers].map(({ child }) => stopProcess(child)));
      for (const proxy of [proxies.postgres, ...proxies.engine, proxies.storage]) await proxy.close();
      await deps.close();
      await stores.drop();
    },
  };
}

/** A killed process has no exit code, and a stopped process exits with 0. */
function unexpectedExit({ child, logFile }: ServiceProcess): string[] {
  return (child.exitCode ?? 0) === 0
    ? []
    : [`a process exited unexpectedly with code ${child.exitCode}; see ${logFile}`];
}
