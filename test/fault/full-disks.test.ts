import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { device } from '../support/device-id.ts';
import { inletOutput } from '../support/run-inlet.ts';
import { withDatabase } from '../support/stores.ts';
import type { FaultPartner } from './fault-partner.ts';
import { type FreshServers, startFreshServers } from './fresh-servers.ts';
import { type TestCluster, startTestCluster } from './test-cluster.ts';

// PostgreSQL and both shards share a small file system in memory, which the test fills completely. PostgreSQL can exit
// as a result.

const mountPoint = `/var/tmp/inlet-small-${process.pid}`;
const filler = join(mountPoint, 'filler');
/** Long enough for every job to fail on the full disk and to be retried. */
const fullMs = 15_000;

/** Only root can mount a file system. */
const canMount = process.getuid?.() === 0;

describe.runIf(canMount && inject('campaign') === 'long')('full disks', () => {
  let fresh: FreshServers;
  let cluster: TestCluster;
  let partner: FaultPartner;

  beforeAll(async () => {
    mkdirSync(mountPoint);
    execFileSync('/usr/bin/mount', ['-t', 'tmpfs', '-o', 'size=500m,mode=755', 'tmpfs', mountPoint]);
    fresh = await startFreshServers(join(mountPoint, 'stack'));
    await inletOutput(fresh.stores.environment, ['migrate']);
    cluster = await startTestCluster('full-disks', { topology: 'two', workers: 2, stores: fresh.stores });
    partner = await cluster.newPartner();
  });
  afterAll(async () => {
    await cluster.stop();
    execFileSync('/usr/bin/umount', ['--lazy', mountPoint]);
    rmSync(mountPoint, { recursive: true, force: true });
  });

  const submit = async (): Promise<void> => {
    const [a] = partner.attributes;
    const first = 100 * partner.submitted.length;
    const rows = Array.from({ length: 100 }, (_, n) => ({
      device: device(first + n),
      isDelete: false,
      attributes: [a],
    }));
    await partner.importFiles('merge', [rows, rows]);
  };
  /** Also fills the space that the servers free in the meantime. */
  const keepFull = (): { end: () => void } => {
    const file = openSync(filler, 'a');
    fill(file);
    const timer = setInterval(() => fill(file), 20);
    return {
      end: () => {
        clearInterval(timer);
        closeSync(file);
        rmSync(filler);
      },
    };
  };

  const finishedBefore = (moment: Date): Promise<number> =>
    withDatabase(fresh.stores, async (client) => {
      const query = 'SELECT count(*)::int AS ended FROM job WHERE finished_at < $1';
      return (await client.query<{ ended: number }>(query, [moment])).rows[0]?.ended ?? 0;
    });

  it('a full disk delays jobs without failing them until there is space again', async () => {
    await submit();
    expect(await cluster.auditAtEnd([partner])).toEqual([]);
    // Stalls the storage, so that the jobs are still in progress when the disk fills up.
    cluster.proxies.storage.make({ is: 'stalled' });
    for (let n = 0; n < 4; n++) await submit();
    const full = keepFull();
    cluster.proxies.storage.make({ is: 'none' });
    await pause(fullMs);
    full.end();
    const hasSpaceAgain = new Date();
    await fresh.startAgain();
    await submit();
    expect(await cluster.auditAtEnd([partner], 120)).toEqual([]);
    expect(await finishedBefore(hasSpaceAgain), 'jobs that finished before the disk had space again').toBe(1);
  });
});

function fill(file: number): void {
  for (const size of [1024 * 1024, 4096]) {
    const zeros = Buffer.alloc(size);
    try {
      for (;;) writeSync(file, zeros);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
    }
  }
}
