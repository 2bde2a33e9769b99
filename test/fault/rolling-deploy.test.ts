import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ServiceProcess } from '../support/running-service.ts';
import { waitUntil } from '../support/wait-until.ts';
import { audit, waitForCleanAudit } from './auditor.ts';
import { attemptAt, holderOf } from './file-holder.ts';
import { type RecordingPartner, submitUntilStopped } from './partner-history.ts';
import { plantedMigrations } from './planted-migrations.ts';
import { type Release, findPreviousRelease, nextRelease, releaseOfCommit } from './releases.ts';
import { type RollingCluster, graceSeconds, loadsPublishedBy, startRollingCluster } from './rolling-cluster.ts';
import { submitOneOfEach, rows } from './submit-one-of-each.ts';

// Deploys under load as docs/deploy.md describes: migrate, start new workers next to the old workers, and stop the old
// workers one by one. The old release is the previous commit. The new release is this tree with one more migration.

const previous = findPreviousRelease();
if (previous === null) {
  process.stdout.write('rolling deploy: SKIPPED. This clone does not contain the previous commit.\n');
}

describe.skipIf(previous === null)('a new release alongside the previous one', () => {
  let releases: readonly [old: Release, next: Release];
  let cluster: RollingCluster;
  let partners: readonly [RecordingPartner, RecordingPartner];
  /** This partner is created during the deployment. */
  let partner: RecordingPartner;
  let submitting: Promise<unknown>;
  let oldWorkers: readonly ServiceProcess[];
  let url: string;

  beforeAll(async () => {
    releases = [releaseOfCommit(previous ?? ''), nextRelease(plantedMigrations())];
    const [{ folder: old }] = releases;
    cluster = await startRollingCluster(old);
    url = await cluster.addApi(old);
    oldWorkers = [await cluster.addWorker(old), await cluster.addWorker(old)];
    partners = [await cluster.newPartner(old, url), await cluster.newPartner(old, url)];
    submitting = Promise.all(partners.map(submitUntilStopped));
    submitting.catch(() => undefined); // awaited below
  }, 300_000);
  afterAll(async () => {
    await cluster.stop();
    for (const release of releases) release.remove();
  });

  it('migrates while the old release runs, and both releases work on the new schema', async () => {
    const [, { folder: next }] = releases;
    const oldPublish = (): boolean => oldWorkers.every((worker) => loadsPublishedBy(worker) > 0);
    await waitUntil('the old workers publish loads', () => Promise.resolve(oldPublish()));
    const output = await cluster.migrate(next);
    for (const path of plantedMigrations().keys()) expect(output).toContain(path.replace('migrations/', 'ran '));
    const then = oldWorkers.map(loadsPublishedBy);
    const newWorker = await cluster.addWorker(next);
    const bothPublish = (): boolean =>
      loadsPublishedBy(newWorker) > 0 && oldWorkers.every((worker, n) => loadsPublishedBy(worker) > (then[n] ?? 0));
    await waitUntil('old and new workers publish loads', () => Promise.resolve(bothPublish()), 180);
    expect(bothPublish()).toBe(true);
  });

  it('takes over a long-running file from a stopping worker, which exits within its grace period', async () => {
    const [, { folder: next }] = releases;
    partner = await cluster.newPartner(next, url);
    cluster.storage.make({ is: 'slow', bytesPerSecond: 2_000 });
    const importId = await partner.importFiles('merge', [rows(1_000, 4_000, [partner.attributes[1]])]);
    const holder = await holderOf(cluster.stores, importId, cluster.workers);
    const before = await attemptAt(cluster.stores, importId);
    const start = performance.now();
    const ending = cluster.terminate(holder);
    await waitUntil(
      'another worker has the file',
      async () => (await attemptAt(cluster.stores, importId)) > before,
      60,
      10,
    );
    const seconds = (performance.now() - start) / 1000;
    const end = await ending;
    cluster.storage.make({ is: 'none' });
    const times = `handed over after ${seconds.toFixed(1)} s, process exited after ${end.seconds.toFixed(1)} s`;
    process.stdout.write(`rolling deploy: ${times}\n`);
    expect(seconds).toBeLessThan(graceSeconds);
    expect(end).toMatchObject({ code: 0 });
    expect(end.seconds).toBeLessThan(graceSeconds);
    await cluster.addWorker(next);
  });

  it('replaces the old release under load without auditor findings', async () => {
    const [, { folder: next }] = releases;
    for (const worker of oldWorkers.filter((one) => cluster.workers.has(one))) {
      await cluster.addWorker(next);
      expect(await cluster.terminate(worker)).toMatchObject({ code: 0 });
    }
    const newUrl = await cluster.addApi(next);
    for (const one of partners) one.stopSubmitting();
    await submitting;
    await submitOneOfEach(partner.through(newUrl));
    const runAudit = (): Promise<string[]> => audit(cluster.stores, [...partners, partner]);
    expect(await waitForCleanAudit(runAudit, 120)).toEqual([]);
  });
});
