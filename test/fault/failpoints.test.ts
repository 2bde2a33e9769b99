import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type HeldToken, resendToken } from '../../src/adapters/postgres/queue/tokens.ts';
import { recordPoints } from '../../src/entry/failpoints.ts';
import { sweepStages } from '../../src/usecases/admin/maintenance.ts';
import { type ServiceProcess, startApi, startProcess, startWorker, stopProcess } from '../support/running-service.ts';
import { silentLog } from '../support/silent-log.ts';
import { type TestStores, createStores, withDatabase } from '../support/stores.ts';
import { type Wired, wireUp } from '../support/wired.ts';
import { audit, waitForCleanAudit } from './auditor.ts';
import { type FaultPartner, newFaultPartner } from './fault-partner.ts';
import { insertKnownMembers } from './known-devices.ts';
import { stagingTableBytes, submitOneOfEach } from './submit-one-of-each.ts';

// Kills a worker at every point between two side effects. Another worker takes over, and the auditor checks the result.
// A worker that only records the points provides the list.

/** Methods without side effects. The points of neighboring methods cover a kill before or after such a method. */
const reads = [
  'lanes.isRunning',
  'lanes.summarizeJob',
  'lanes.claimTurn',
  'files.findLive',
  'files.recordProgress',
  'stage.countRows',
  'stage.countStaged',
  'lanes.findPublished',
  'lanes.listFailedFiles',
  'lanes.listGivenObjects',
  'stage.readSoFar',
  'stage.listStaged',
  'stage.listRejects',
  'audiences.find',
  'audiences.findDetails',
  'audiences.findWithFiles',
  'audiences.list',
  'audiences.listDead',
  'audiences.listFailedLoads',
  'audiences.listHistory',
  'audiences.listLoadedFiles',
  'audiences.marksOf',
  'audienceWarehouse.countUploaded',
  'audienceWarehouse.countDevices',
  'audienceWarehouse.countNewDevices',
  'audienceWarehouse.countDead',
  'warehouse.measureStoredData',
  'importLogs.find',
  'importLogs.listFiles',
  'importLogs.listNewest',
  'importLogs.marksOf',
  'requests.find',
  'index.countMatched',
  'index.highestFold',
  'index.requireLease',
  'index.verify',
  'indexStore.countChanges',
  'indexStore.findAudience',
  'indexStore.hasChanges',
  'indexStore.knownVersion',
  'indexStore.listChanges',
  'indexStore.listStaleMatched',
  'indexStore.listFoldedAudiences',
  'indexStore.listFoldedBlocks',
  'indexStore.nextFoldId',
  'indexStore.runAlone',
  'operations.findJob',
  'operations.findRequest',
  'operations.listJobs',
  'operations.listLanes',
];

/** Methods that a worker calls only after a failure, and methods of the API and the command line. */
const notInWorker = [
  'warehouse.publishDevicesOfRows',
  'importLogs.submitImport',
  'importLogs.submitDelete',
  'importLogs.cancel',
  'importLogs.findSubmitted',
  'audiences.create',
  'audiences.append',
  'audiences.clear',
  'audiences.dismissFile',
  'audiences.rename',
  'audiences.remove',
  'audiences.cancelAppend',
  'audiences.retryAppend',
  'audiences.renewPurgeClaim',
  'requests.claim',
  'requests.requireRoom',
  'requests.save',
  'lanes.markCleaned',
  'lanes.recordLostObjects',
  'lanes.reloadFiles',
  'lanes.restageFiles',
  'operations.cancelJob',
  'index.clear',
  'indexStore.advanceFoldId',
  'indexStore.noteAll',
  'indexStore.postpone',
  'indexStore.recordMatched',
];

/** Methods that are called every ten seconds regardless of requests and are therefore not part of a step. */
const sweeps = ['lanes.requeueIdleLanes', 'lanes.claimTurn', 'requests.deleteExpired'];

/**
 * The gate kills workers at this number of points, spread evenly over the list. The long run kills workers at all
 * points.
 */
const pointsInGate = 2;

function spread<T>(list: readonly T[], count: number): T[] {
  return list.filter(
    (_, index) => Math.floor((index * count) / list.length) > Math.floor(((index - 1) * count) / list.length),
  );
}

describe('a worker that is killed', () => {
  let stores: TestStores;
  let environment: Record<string, string>;
  let deps: Wired;
  let api: ServiceProcess & { readonly url: string };
  const partners: FaultPartner[] = [];

  beforeAll(async () => {
    stores = await createStores('two');
    await insertKnownMembers(stores);
    environment = { ...stores.environment, INLET_ROOM_BYTES: String(stagingTableBytes), INLET_PURGE_SECONDS: '1' };
    deps = await wireUp(stores);
    api = await startApi(environment, 'failpoints');
  });
  afterAll(async () => {
    await stopProcess(api.child);
    await deps.close();
    await stores.drop();
  });

  const newPartner = async (): Promise<FaultPartner> => {
    const partner = await newFaultPartner(deps, stores, api.url);
    partners.push(partner);
    return partner;
  };
  const pointsOf = ({ logFile }: ServiceProcess): string[] => [
    ...new Set(
      readFileSync(logFile, 'utf8')
        .split('\n')
        .flatMap((line) => /"point":"([^"]+)","msg":"point"/.exec(line)?.[1] ?? []),
    ),
  ];
  const methodOf = (point: string): string => /^(?:before|after|in) ([a-zA-Z.]+)/.exec(point)?.[1] ?? '';

  /** Resends a dead worker's tokens, as workers that had seen it alive would. */
  const resendTokens = async (): Promise<void> => {
    const left = await withDatabase(stores, async (client) => {
      // Expires the claim of a purge.
      await client.query(`UPDATE sweep SET next_at = NULL WHERE name = 'purge generations'`);
      const { rows } = await client.query<HeldToken>(
        `SELECT name AS queue, id, retry_count AS "retryCount", singleton_key AS "singletonKey", data
         FROM pgboss.job WHERE state = 'active'`,
      );
      return rows;
    });
    for (const holding of left) await resendToken(deps.db, deps.boss, holding);
  };

  const auditUntilClean = (partner: FaultPartner): Promise<string[]> =>
    waitForCleanAudit(async () => {
      // Makes the next purge and the sweep for orphaned stages due.
      await withDatabase(stores, async (client) => {
        await client.query(`UPDATE sweep SET next_at = NULL WHERE name = 'purge generations'`);
        await client.query(`UPDATE sweep SET ran_at = now() - interval '1 hour' WHERE name = 'drop orphaned stages'`);
      });
      await sweepStages({ ...deps, log: silentLog });
      return audit(stores, [partner]);
    }, 120);

  /** Returns whether the worker was killed at this point, and the findings afterward. */
  const killAt = async (point: string): Promise<{ isKilled: boolean; wrong: string[] }> => {
    const victim = startProcess('worker', { ...environment, INLET_FAILPOINT: point }, 'failpoints-victim');
    const killed = once(victim.child, 'exit');
    let other: ServiceProcess | undefined;
    try {
      const partner = await newPartner();
      const submitting = submitOneOfEach(partner);
      submitting.catch(() => undefined); // awaited below
      // A purge runs some time after the last load.
      const tooLate = new AbortController();
      const late = pause(60_000, 'late', { signal: tooLate.signal }).catch(() => 'killed');
      const isKilled = (await Promise.race([killed.then(() => 'killed'), late])) === 'killed';
      tooLate.abort();
      await resendTokens();
      other = await startWorker(environment, 'failpoints-other');
      await submitting;
      const wrong = await auditUntilClean(partner);
      return { isKilled, wrong };
    } finally {
      await Promise.all([stopProcess(victim.child), other && stopProcess(other.child)]);
    }
  };

  const points: string[] = [];

  it('every port method with side effects has a failpoint', async () => {
    const recorder = await startWorker({ ...environment, INLET_FAILPOINT: recordPoints }, 'failpoints-recorder');
    const partner = await newPartner();
    await submitOneOfEach(partner);
    expect(await auditUntilClean(partner)).toEqual([]);
    await stopProcess(recorder.child);
    const recorded = pointsOf(recorder);
    points.push(...recorded.filter((point) => ![...reads, ...sweeps].includes(methodOf(point))));
    const { importLogs, lanes, files, audiences, stage, warehouse, audienceWarehouse, requests, operations } = deps;
    const { index, indexStore } = deps;
    const ofLanes = { importLogs, lanes, files, audiences, stage, warehouse, audienceWarehouse, requests, operations };
    const ports = { ...ofLanes, index, indexStore };
    const methods = Object.entries(ports).flatMap(([name, port]) =>
      Object.entries(port).flatMap(([key, value]) => (typeof value === 'function' ? [`${name}.${key}`] : [])),
    );
    const passed = new Set(recorded.map(methodOf));
    const known = new Set([...passed, ...reads, ...notInWorker, ...sweeps]);
    expect(methods.filter((method) => !known.has(method))).toEqual([]);
    expect([...reads, ...notInWorker, ...sweeps].filter((method) => !methods.includes(method))).toEqual([]);
  });

  it(
    'a worker that is killed at any failpoint loses nothing, counts nothing twice, and leaves nothing behind',
    { timeout: 7_200_000 },
    async () => {
      expect(points.length).toBeGreaterThan(50);
      const chosen = inject('campaign') === 'long' ? points : spread(points.toSorted(), pointsInGate);
      const failed = [];
      const notPassed = [];
      for (const point of chosen) {
        const start = performance.now();
        const { isKilled, wrong } = await killAt(point);
        const seconds = ((performance.now() - start) / 1000).toFixed(1);
        process.stdout.write(`failpoints: ${wrong.length === 0 ? 'ok' : 'WRONG'} after ${seconds} s, ${point}\n`);
        if (wrong.length > 0) failed.push({ point, wrong });
        if (!isKilled) notPassed.push(point);
      }
      expect(failed).toEqual([]);
      // A worker reaches some points only with a certain timing.
      expect(notPassed.length, notPassed.join('; ')).toBeLessThanOrEqual(chosen.length / 10);
      expect(await audit(stores, partners)).toEqual([]);
    },
  );
});
