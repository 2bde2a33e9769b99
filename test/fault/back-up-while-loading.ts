import { randomUUID } from 'node:crypto';
import { advisoryLocks } from '../../src/adapters/postgres/db/advisory-locks.ts';
import { changeEntries } from '../../src/entry/suppression.ts';
import { inletOutput } from '../support/run-inlet.ts';
import { type TestStores, withDatabase } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';
import { type RecordingPartner, submitUntilStopped, withHistory } from './partner-history.ts';
import { rows } from './submit-one-of-each.ts';
import { type TestCluster, startTestCluster } from './test-cluster.ts';

/**
 * Takes a backup while two partners submit every kind of request in a loop. Two more partners have a staged load at the
 * moment of the backup. One load is in its own staging tables, and the other is in the shared staging table. Returns
 * all four partners after the processes have stopped and their stores are dropped.
 */
export async function backUpWhileLoading(
  folder: string,
  settings: Readonly<Record<string, string>>,
): Promise<readonly RecordingPartner[]> {
  const cluster = await startTestCluster('backup', { topology: 'two', workers: 2, settings });
  try {
    await changeEntries([randomUUID()], { isRemoval: false }, cluster.stores.config);
    const newPartner = async (): Promise<RecordingPartner> => withHistory(await cluster.newPartner());
    const busy = [await newPartner(), await newPartner()];
    const waiting = [await newPartner(), await newPartner()] as const;
    const submitting = Promise.all(busy.map(submitUntilStopped));
    submitting.catch(() => undefined); // awaited below
    // Waits for more than one full round, so that data has been published, replaced, deleted, and cleared.
    await haveSubmitted(busy, [21, 21]);
    await whileStaged(cluster, waiting, async (resume) => {
      const output = inletOutput(cluster.stores.environment, ['backup', folder]);
      await waitUntil('the backup waits to pause the lanes', () => isLockAwaited(cluster.stores));
      await resume();
      process.stdout.write(`backup: ${await output}`);
    });
    for (const partner of waiting) await partner.importNothing();
    const submitted = busy.map((partner) => partner.submitted.length);
    await haveSubmitted(busy, submitted);
    for (const partner of busy) partner.stopSubmitting();
    await submitting;
    return [...busy, ...waiting];
  } finally {
    await cluster.stop();
  }
}

async function haveSubmitted(partners: readonly RecordingPartner[], more: readonly number[]): Promise<void> {
  await waitUntil('every partner has submitted more', async () =>
    Promise.resolve(partners.every(({ submitted }, n) => submitted.length > (more[n] ?? 0))),
  );
}

/** Pauses the lanes as a backup does. A file that is loading is then staged but not published. */
async function whileStaged(
  { stores, proxies }: TestCluster,
  [one, other]: readonly [RecordingPartner, RecordingPartner],
  act: (resume: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const waitForBoth = (what: 'status = 1' | 'staged'): Promise<void> =>
    waitUntil(`two files have ${what}`, () =>
      withDatabase(stores, async (client) => {
        const query = `SELECT id FROM job_file WHERE partner_id = ANY($1) AND ${what}`;
        return (await client.query(query, [[one.id, other.id]])).rows.length === 2;
      }),
    );
  proxies.storage.make({ is: 'slow', bytesPerSecond: 2_000 });
  await one.importFiles('merge', [rows(100, 400, [one.attributes[0]])]);
  await other.importFiles('replace', [rows(100, 400, [other.attributes[0]])]);
  await waitForBoth('status = 1');
  await withDatabase(stores, async (client) => {
    await client.query('SELECT pg_advisory_lock($1)', [advisoryLocks.backupCut]);
    proxies.storage.make({ is: 'none' });
    await waitForBoth('staged');
    await act(async () => void (await client.query('SELECT pg_advisory_unlock($1)', [advisoryLocks.backupCut])));
  });
}

async function isLockAwaited(stores: TestStores): Promise<boolean> {
  return withDatabase(stores, async (client) => {
    const query = `SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND objid = $1
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
    return (await client.query(query, [advisoryLocks.backupCut])).rows.length > 0;
  });
}
