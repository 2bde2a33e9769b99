import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ServiceProcess } from '../support/running-service.ts';
import { waitUntil } from '../support/wait-until.ts';
import { audit, waitForCleanAudit } from './auditor.ts';
import { attemptAt, holderOf } from './file-holder.ts';
import { type RecordingPartner, submitUntilSilenced } from './partner-history.ts';
import { plantedMigrations } from './planted-migrations.ts';
import { type Release, findPreviousRelease, nextRelease, releaseOfCommit } from './releases.ts';
import { type RollingCluster, graceSeconds, loadsSettledBy, startRollingCluster } from './rolling-cluster.ts';
import { submitOneOfEach, rows } from './submit-one-of-each.ts';

// A deployment as docs/deploy.md has it, under load: migrate, start new workers beside the old ones, stop the old ones one
// after the other. The old release is the commit before; the new one is this tree and a migration more.

const previous = findPreviousRelease();
if (previous === null) {
  process.stdout.write('rolling deploy: SKIPPED, the history of this clone does not hold the commit before\n');
}

describe.skipIf(previous === null)('a new release beside the one before', () => {
  let releases: readonly [old: Release, next: Release];
  let cluster: RollingCluster;
  let partners: readonly [RecordingPartner, RecordingPartner];
  /** Comes during the deployment. */
  let partner: RecordingPartner;
  let asking: Promise<unknown>;
  let oldWorkers: readonly ServiceProcess[];
  let url: string;

  beforeAll(async () => {
    releases = [releaseOfCommit(previous ?? ''), nextRelease(plantedMigrations())];
    const [{ folder: old }] = releases;
    cluster = await startRollingCluster(old);
    url = await cluster.addApi(old);
    oldWorkers = [await cluster.addWorker(old), await cluster.addWorker(old)];
    partners = [await cluster.newPartner(old, url), await cluster.newPartner(old, url)];
    asking = Promise.all(partners.map(submitUntilSilenced));
    asking.catch(() => undefined); // it is waited for below
  }, 300_000);
  afterAll(async () => {
    await cluster.stop();
    for (const release of releases) release.remove();
  });

  it('migrates while the old one works, and both work on what it made', async () => {
    const [, { folder: next }] = releases;
    const areAtIt = (): boolean => oldWorkers.every((worker) => loadsSettledBy(worker) > 0);
    await waitUntil('the old workers are at it', () => Promise.resolve(areAtIt()));
    const said = await cluster.migrate(next);
    for (const path of plantedMigrations().keys()) expect(said).toContain(path.replace('migrations/', 'ran '));
    const then = oldWorkers.map(loadsSettledBy);
    const newWorker = await cluster.addWorker(next);
    const doBoth = (): boolean =>
      loadsSettledBy(newWorker) > 0 && oldWorkers.every((worker, n) => loadsSettledBy(worker) > (then[n] ?? 0));
    await waitUntil('old and new workers settle loads', () => Promise.resolve(doBoth()), 180);
    expect(doBoth()).toBe(true);
  });

  it('takes over a long file from a worker that is told to stop, which ends within its grace', async () => {
    const [, { folder: next }] = releases;
    partner = await cluster.newPartner(next, url);
    cluster.storage.make({ is: 'slow', bytesPerSecond: 2_000 });
    const importId = await partner.importFiles('merge', [rows(1_000, 4_000, [partner.attributes[1]])]);
    const holder = await holderOf(cluster.stores, importId, cluster.workers);
    const before = await attemptAt(cluster.stores, importId);
    const start = performance.now();
    const ending = cluster.terminate(holder);
    await waitUntil('another has the file', async () => (await attemptAt(cluster.stores, importId)) > before, 60, 10);
    const seconds = (performance.now() - start) / 1000;
    const end = await ending;
    cluster.storage.make({ is: 'none' });
    const times = `handed over after ${seconds.toFixed(1)} s, process gone after ${end.seconds.toFixed(1)} s`;
    process.stdout.write(`rolling deploy: ${times}\n`);
    expect(seconds).toBeLessThan(graceSeconds);
    expect(end).toMatchObject({ code: 0 });
    expect(end.seconds).toBeLessThan(graceSeconds);
    await cluster.addWorker(next);
  });

  it('takes its place under load, and the auditor finds nothing', async () => {
    const [, { folder: next }] = releases;
    for (const worker of oldWorkers.filter((one) => cluster.workers.has(one))) {
      await cluster.addWorker(next);
      expect(await cluster.terminate(worker)).toMatchObject({ code: 0 });
    }
    const newUrl = await cluster.addApi(next);
    for (const one of partners) one.silence();
    await asking;
    await submitOneOfEach(partner.through(newUrl));
    const look = (): Promise<string[]> => audit(cluster.stores, [...partners, partner]);
    expect(await waitForCleanAudit(look, 120)).toEqual([]);
  });
});
