import { once } from 'node:events';
import { device } from '../support/device-id.ts';
import { waitUntil } from '../support/wait-until.ts';
import { attemptAt, holderOf } from './file-holder.ts';
import { startTestCluster } from './test-cluster.ts';

// Measures how long another worker takes to claim the file of a worker that is killed or suspended. The download is
// slow enough that the file is still loading when the worker is killed or suspended.

/** A new worker does not check other workers' liveness at first. With four workers, at least one always checks. */
const workerCount = 4;

export type Takeovers = {
  /** Signals the worker that holds a file. Returns the seconds until another worker claims the file. */
  readonly takeOver: (how: 'SIGKILL' | 'SIGSTOP') => Promise<number>;
  /** The auditor's findings. */
  readonly audit: () => Promise<string[]>;
  readonly stop: () => Promise<void>;
};

export async function startTakeovers(): Promise<Takeovers> {
  const cluster = await startTestCluster('takeover', {
    topology: 'one',
    workers: workerCount,
    settings: { INLET_WORKER_FILES: '1', INLET_WORKER_LANES: '1' },
  });
  const { stores, workers } = cluster;
  const partner = await cluster.newPartner();
  const rows = Array.from({ length: 30_000 }, (_, n) => ({
    device: device(n),
    isDelete: false,
    attributes: [partner.attributes[0]],
  }));

  return {
    takeOver: async (how) => {
      cluster.proxies.storage.make({ is: 'slow', bytesPerSecond: 2_000 });
      const importId = await partner.importFiles('merge', [rows]);
      const victim = await holderOf(stores, importId, workers);
      const before = await attemptAt(stores, importId);
      const start = performance.now();
      victim.child.kill(how);
      await waitUntil('another worker has the file', async () => (await attemptAt(stores, importId)) > before, 60, 10);
      const seconds = (performance.now() - start) / 1000;
      workers.delete(victim);
      if (how === 'SIGSTOP') {
        const gone = once(victim.child, 'exit');
        victim.child.kill('SIGKILL');
        await gone;
      }
      cluster.proxies.storage.make({ is: 'none' });
      await partner.waitForImport(importId);
      await cluster.addWorker();
      return seconds;
    },
    audit: () => cluster.auditAtEnd([partner]),
    stop: cluster.stop,
  };
}
