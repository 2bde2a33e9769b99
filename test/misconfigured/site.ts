import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { type ApiClient, apiClient } from '../acceptance/api-client.ts';
import { type AudienceClient, audienceClient } from '../acceptance/audience-client.ts';
import { device } from '../support/device-id.ts';
import { type TestPartner, createPartner } from '../support/partners.ts';
import { runInlet } from '../support/run-inlet.ts';
import { operatorOutput, runOperator } from '../support/run-operator.ts';
import { type ServiceProcess, startApi, startProcess, startWorker, stopProcess } from '../support/running-service.ts';
import { attributesOf } from '../support/shard-tables.ts';
import { type TestStores, createStores } from '../support/stores.ts';

// A partner that has loaded an import and an audience. A case misconfigures the installation, submits a second import
// and a second audience file, and compares the result with the numbers in `findWrongNumbers`.

export type Environment = Readonly<Record<string, string>>;

const settings = { INLET_TOPOLOGY_SECONDS: '1', INLET_PURGE_SECONDS: '1' };

const lines = (from: number, to: number, rest: string): string =>
  Array.from({ length: to - from + 1 }, (_, n) => `${device(from + n)},${rest}\n`).join('');

/** Stores and an API. Several cases share one installation, because starting processes takes most of the time. */
export type Installation = {
  readonly stores: TestStores;
  readonly environment: Environment;
  readonly url: string;
  /** Starts a correct worker, unless one is running. */
  readonly startWorker: () => Promise<void>;
  /** Starts a process that may exit immediately. */
  readonly launch: (environment: Environment, entry?: 'api' | 'worker') => ServiceProcess;
  readonly stopWorkers: () => Promise<void>;
  readonly stop: () => Promise<void>;
};

export async function startInstallation(): Promise<Installation> {
  const stores = await createStores('two');
  const environment = { ...stores.environment, ...settings };
  // Records the shared bucket.
  await operatorOutput(environment, ['migrate']);
  const service = await startApi(environment, 'misconfigured');
  let worker: ServiceProcess | null = null;
  const launched: ServiceProcess[] = [];
  const stopWorkers = async (): Promise<void> => {
    const running = [...launched.splice(0), ...(worker ? [worker] : [])];
    worker = null;
    await Promise.all(running.map(({ child }) => stopProcess(child)));
  };
  return {
    stores,
    environment,
    url: service.url,
    startWorker: async () => {
      worker ??= await startWorker(environment, 'misconfigured');
    },
    launch: (other, entry = 'worker') => {
      const launchedProcess = startProcess(entry, other, 'misconfigured');
      launched.push(launchedProcess);
      return launchedProcess;
    },
    stopWorkers,
    stop: async () => {
      await stopWorkers();
      await stopProcess(service.child);
      await stores.drop();
    },
  };
}

/** A partner in an installation. Its first import and audience are loaded, and no worker is running. */
export type Site = Installation & {
  readonly partner: TestPartner;
  readonly attributeId: number;
  readonly api: ApiClient;
  readonly audiences: AudienceClient;
  readonly firstImport: number;
  readonly audienceId: number;
  /** The second import: 200 devices, 150 of them new. */
  readonly secondFile: string;
  /** Submits the second import, and appends 150 devices to the audience, 100 of them new. Returns the import's ID. */
  readonly submit: () => Promise<number>;
};

let serial = 0;

export async function newSite(installation: Installation): Promise<Site> {
  const { environment, url } = installation;
  const partner = await createPartner(environment);
  const attributeId = await partner.createAttribute('sport', 'sport');
  const [api, audiences] = [apiClient(url, partner.apiKey), audienceClient(url, partner.apiKey)];
  // Each partner has its own devices, because a device that another partner has imported counts as matched.
  serial += 1;
  const base = serial * 1000;
  const secondFile = lines(base + 151, base + 350, 'sport');
  await partner.upload('1.csv', lines(base + 1, base + 200, 'sport'));
  await partner.upload('2.csv', secondFile);
  await partner.upload('members-1.csv', lines(base + 101, base + 300, ''));
  await partner.upload('members-2.csv', lines(base + 251, base + 400, ''));
  const firstImport = await api.queue({ file_path: '1.csv', key_type: 1 });
  const { audienceId } = await audiences.create('members', 'members-1.csv');
  await installation.startWorker();
  await api.waitForEnd(firstImport);
  await audiences.settled(audienceId);
  await installation.stopWorkers();
  return {
    ...installation,
    partner,
    attributeId,
    api,
    audiences,
    firstImport,
    audienceId,
    secondFile,
    submit: async () => {
      const importId = await api.queue({ file_path: '2.csv', key_type: 1 });
      await audiences.append(audienceId, 'members-2.csv');
      return importId;
    },
  };
}

/** Waits until the second import and the audience have ended, and returns the differences from the expected numbers. */
export async function findWrongNumbers(site: Site, importId: number, matched = 250): Promise<string[]> {
  const { status, total_rows, unique_devices } = await site.api.waitForEnd(importId, 60);
  const audience = await site.audiences.settled(site.audienceId, 60);
  const pairs = await attributesOf(site.stores, site.partner.id);
  const actual = {
    import: `${status} ${total_rows} ${unique_devices}`,
    audience: `${audience.status} ${audience.uploaded_devices} ${audience.unique_devices} ${audience.matched_devices}`,
    pairs: `${pairs.length} ${new Set(pairs).size}`,
    audit: await auditOf(site),
  };
  const expected: typeof actual = {
    import: '2 200 200',
    audience: `2 350 300 ${matched}`,
    pairs: '350 350',
    audit: '',
  };
  return Object.entries(expected).flatMap(([what, value]) => {
    const found = Object.entries(actual).find(([name]) => name === what)?.[1];
    return found === value ? [] : [`${what}: ${found}, expected ${value}`];
  });
}

/** The differences that `inlet audit` prints. */
export async function auditOf(site: Site): Promise<string> {
  const { out, err } = await runOperator(site.environment, ['audit', '--partner', site.partner.name]);
  return (out + err).replace(/^\d+ jobs? (?:or|and) audiences? audited.*\n/m, '').trim();
}

const doctorSchema = z.array(z.object({ check: z.string(), status: z.string(), message: z.string() }));

export type DoctorLine = { readonly isOk: boolean; readonly text: string };

/** Runs `inlet doctor`. If the configuration is invalid, returns the error. */
export async function doctorLines(environment: Environment, attempts = 4): Promise<DoctorLine[]> {
  // Only a new process applies NODE_OPTIONS.
  const run = 'NODE_OPTIONS' in environment ? runInlet : runOperator;
  const { out, err } = await run(environment, ['doctor', '--json']);
  // On a busy machine, a check may exceed its time limit.
  if (/no response within|timeout expired/.test(out) && attempts > 1) return doctorLines(environment, attempts - 1);
  if (!out.trimStart().startsWith('[')) return [{ isOk: false, text: err.trim() }];
  return doctorSchema
    .parse(JSON.parse(out))
    .map(({ check, status, message }) => ({ isOk: status === 'ok', text: `${check}: ${message}` }));
}

export type Outcome =
  | { readonly is: 'refused at start'; readonly says: string }
  | { readonly is: 'waits and says why'; readonly says: string }
  | { readonly is: 'fails with a clear code'; readonly says: string }
  | { readonly is: 'works, numbers right'; readonly says: string }
  | { readonly is: 'unexplained'; readonly says: string };

const settleMs = 4_000;

/**
 * Watches a process of a misconfigured installation and the second import until the outcome is certain. A job counts as
 * waiting if it is still open a few seconds after the process has logged the reason.
 */
export async function observe(
  site: Site,
  { child, logFile }: ServiceProcess,
  importId: number,
  { reason, seconds = 40 }: { readonly reason: RegExp; readonly seconds?: number },
): Promise<Outcome> {
  const start = Date.now();
  while (Date.now() < start + seconds * 1000) {
    const log = readFileSync(logFile, 'utf8');
    const said = reasonIn(log, reason);
    if (child.exitCode !== null || child.signalCode !== null) {
      return said === null ? { is: 'unexplained', says: log.slice(-500) } : { is: 'refused at start', says: said };
    }
    const record = await site.api.get(importId);
    if (record.status === 3) return { is: 'fails with a clear code', says: record.errors?.[0]?.code ?? 'no code' };
    if (record.status === 2 && (await site.audiences.get(site.audienceId)).status >= 2) {
      return { is: 'works, numbers right', says: '' };
    }
    if (said !== null && Date.now() > start + settleMs) return { is: 'waits and says why', says: said };
    await pause(200);
  }
  return { is: 'unexplained', says: `no reason within ${seconds} s in ${logFile}` };
}

function reasonIn(log: string, reason: RegExp): string | null {
  const found = reason.exec(log);
  return found ? found[0].slice(0, 160) : null;
}
