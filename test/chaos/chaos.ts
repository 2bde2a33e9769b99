import { setTimeout as pause } from 'node:timers/promises';
import { compareReplicas } from '../../src/entry/row-audit.ts';
import { startTestCluster } from '../fault/test-cluster.ts';
import { auditWhenIdle } from './audit-when-idle.ts';
import { pickerOf } from './chaos-partner.ts';
import { faultsOf, type Fault, type Faults } from './faults.ts';
import { printLine } from './print-line.ts';
import { filesOf } from './record.ts';
import { count, newChaosPartners, sendRequestsWhile } from './send-requests.ts';

export type ChaosOptions = {
  readonly minutes: number;
  readonly seed: number;
  readonly partners: number;
  readonly workers: number;
  /** The number of replicas per shard. */
  readonly replicas?: 1 | 2;
};

const settings = {
  INLET_WORKER_LANES: '4',
  INLET_WORKER_FILES: '4',
  INLET_ROOM_BYTES: '600',
  INLET_PURGE_SECONDS: '5',
};

/**
 * Sends random requests from many partners and injects random faults for the given time. Then stops the faults, and the
 * auditor reports its findings. The same seed makes the same choices, but their timing depends on the machine. If there
 * are findings, the databases are kept.
 */
export async function runChaos(options: ChaosOptions): Promise<{ findings: string[]; jobs: number; faults: number }> {
  const { minutes, seed } = options;
  const start = Date.now();
  const cluster = await startTestCluster('chaos', {
    topology: options.replicas === 2 ? 'replicated' : 'two',
    workers: options.workers,
    settings,
  });
  await cluster.addApi();
  const partners = await newChaosPartners(cluster, seed, options.partners);
  printLine(`options: ${JSON.stringify(options)}, database: ${cluster.stores.database}`);
  const faults = faultsOf(cluster, pickerOf(seed));
  const end = Date.now() + minutes * 60_000;
  const progress = setInterval(() => {
    const requests = partners.flatMap(({ record }) => record.requests);
    printLine(
      `${requests.length} requests, ${requests.filter(({ answer }) => answer === null).length} without a response`,
    );
  }, 60_000);
  const [injected] = await Promise.all([
    injectFaults(faults, seed, end),
    sendRequestsWhile(cluster, partners, seed, () => Date.now() < end),
  ]);
  clearInterval(progress);
  await faults.waitForRestarts();
  printLine('fault injection has ended');
  const idle = Date.now();
  const findings = [
    ...(await auditWhenIdle(cluster, partners)),
    ...(await compareReplicas(cluster.stores.config)),
    ...faults.unexpected,
  ];
  const requests = partners.flatMap(({ record }) => record.requests);
  const jobs = await count(cluster, 'SELECT count(*) FROM job');
  const kills = [...injected].reduce((sum, [{ kills: each }, times]) => sum + each * times, 0);
  for (const [{ name }, times] of [...injected].toSorted((a, b) => b[1] - a[1]))
    printLine(`${String(times).padStart(5)}  ${name}`);
  for (const finding of findings.slice(0, 50)) printLine(`WRONG: ${finding}`);
  const faultCount = [...injected.values()].reduce((sum, times) => sum + times, 0);
  printLine(
    JSON.stringify({
      seed,
      minutes: Math.round((Date.now() - start) / 6_000) / 10,
      kills,
      faults: faultCount,
      partners: partners.filter(({ record }) => record.requests.length > 0).length,
      requests: requests.length,
      unanswered: requests.filter(({ answer }) => answer === null).length,
      jobs,
      files: requests.reduce((sum, request) => sum + filesOf(request), 0),
      idleAfterSeconds: Math.round((Date.now() - idle) / 1000),
      findings: findings.length,
    }),
  );
  if (findings.length === 0) await cluster.stop();
  return { findings, jobs, faults: faultCount };
}

async function injectFaults({ list }: Faults, seed: number, end: number): Promise<Map<Fault, number>> {
  const pick = pickerOf(seed + 2);
  const injected = new Map<Fault, number>();
  const total = list.reduce((sum, { weight }) => sum + weight, 0);
  while (Date.now() < end) {
    let at = pick(total);
    const fault = list.find(({ weight }) => (at -= weight) < 0);
    if (!fault) continue;
    await fault.happen();
    injected.set(fault, (injected.get(fault) ?? 0) + 1);
    await pause(1_000 + pick(10_000));
  }
  return injected;
}
