import { advisoryLocks } from '../../src/adapters/postgres/db/advisory-locks.ts';
import { inletOutput } from '../support/run-inlet.ts';
import { type TestStores, withDatabase } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';
import { type RecordingPartner, submitUntilSilenced, withHistory } from './partner-history.ts';
import { rows } from './submit-one-of-each.ts';
import { type TestCluster, startTestCluster } from './test-cluster.ts';

/**
 * Partners that ask for everything, over and over, and two of which we know what is staged for them at the moment of the
 * cut: one in a room, one in the shared stage. Gives all of them, when the processes and their stores are gone.
 */
export async function backUpWhileLoading(
  folder: string,
  settings: Readonly<Record<string, string>>,
): Promise<readonly RecordingPartner[]> {
  const cluster = await startTestCluster('backup', { topology: 'two', workers: 2, settings });
  try {
    const newPartner = async (): Promise<RecordingPartner> => withHistory(await cluster.newPartner());
    const busy = [await newPartner(), await newPartner()];
    const waiting = [await newPartner(), await newPartner()] as const;
    const asking = Promise.all(busy.map(submitUntilSilenced));
    asking.catch(() => undefined); // it is waited for below
    // More than once everything: so much is published, replaced, deleted and cleared already.
    await haveAsked(busy, [21, 21]);
    await whileTheyAreStaged(cluster, waiting, async (letGo) => {
      const said = inletOutput(cluster.stores.environment, ['backup', folder]);
      await waitUntil('the backup waits for its pause', () => isAwaited(cluster.stores));
      await letGo();
      process.stdout.write(`backup: ${await said}`);
    });
    for (const partner of waiting) await partner.importNothing();
    const asked = busy.map((partner) => partner.asked.length);
    await haveAsked(busy, asked);
    for (const partner of busy) partner.silence();
    await asking;
    return [...busy, ...waiting];
  } finally {
    await cluster.stop();
  }
}

async function haveAsked(partners: readonly RecordingPartner[], more: readonly number[]): Promise<void> {
  await waitUntil('every partner has asked for more', async () =>
    Promise.resolve(partners.every(({ asked }, n) => asked.length > (more[n] ?? 0))),
  );
}

/** The test pauses the lanes as a backup does: a file that is being loaded now gets staged, and no further. */
async function whileTheyAreStaged(
  { stores, proxies }: TestCluster,
  [one, other]: readonly [RecordingPartner, RecordingPartner],
  act: (letGo: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const bothAre = (what: 'status = 1' | 'staged'): Promise<void> =>
    waitUntil(`two files are so: ${what}`, () =>
      withDatabase(stores, async (client) => {
        const query = `SELECT id FROM job_file WHERE partner_id = ANY($1) AND ${what}`;
        return (await client.query(query, [[one.id, other.id]])).rows.length === 2;
      }),
    );
  proxies.storage.make({ is: 'slow', bytesPerSecond: 2_000 });
  await one.importFiles('merge', [rows(100, 400, [one.attributes[0]])]);
  await other.importFiles('replace', [rows(100, 400, [other.attributes[0]])]);
  await bothAre('status = 1');
  await withDatabase(stores, async (client) => {
    await client.query('SELECT pg_advisory_lock($1)', [advisoryLocks.backupCut]);
    proxies.storage.make({ is: 'none' });
    await bothAre('staged');
    await act(async () => void (await client.query('SELECT pg_advisory_unlock($1)', [advisoryLocks.backupCut])));
  });
}

async function isAwaited(stores: TestStores): Promise<boolean> {
  return withDatabase(stores, async (client) => {
    const query = `SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND objid = $1
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
    return (await client.query(query, [advisoryLocks.backupCut])).rows.length > 0;
  });
}
