import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { device } from '../support/device-id.ts';
import { inletOutput } from '../support/run-inlet.ts';
import { withDatabase } from '../support/stores.ts';
import type { FaultPartner } from './fault-partner.ts';
import { type FreshServers, startFreshServers } from './fresh-servers.ts';
import { type TestCluster, startTestCluster } from './test-cluster.ts';

// PostgreSQL and both shards on one small disk in memory, that is then filled to its last byte. PostgreSQL may end of it.

const place = `/var/tmp/inlet-small-${process.pid}`;
const filler = join(place, 'filler');
/** Long enough for every attempt to meet the full disk, and to be made again. */
const fullMs = 15_000;

/** Only root may mount; elsewhere this is not tried. */
const canMount = process.getuid?.() === 0;

describe.runIf(canMount)('a disk that is full', () => {
  let fresh: FreshServers;
  let cluster: TestCluster;
  let partner: FaultPartner;

  beforeAll(async () => {
    mkdirSync(place);
    execFileSync('/usr/bin/mount', ['-t', 'tmpfs', '-o', 'size=500m,mode=755', 'tmpfs', place]);
    fresh = await startFreshServers(join(place, 'stack'));
    await inletOutput(fresh.stores.environment, ['migrate']);
    cluster = await startTestCluster('full-disks', { topology: 'two', workers: 2, stores: fresh.stores });
    partner = await cluster.newPartner();
  });
  afterAll(async () => {
    await cluster.stop();
    execFileSync('/usr/bin/umount', ['--lazy', place]);
    rmSync(place, { recursive: true, force: true });
  });

  const ask = async (): Promise<void> => {
    const [a] = partner.attributes;
    const first = 100 * partner.asked.length;
    const rows = Array.from({ length: 100 }, (_, n) => ({
      device: device(first + n),
      isDelete: false,
      attributes: [a],
    }));
    await partner.importFiles('merge', [rows, rows]);
  };
  /** Also what the servers give up meanwhile. */
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

  const endedBefore = (moment: Date): Promise<number> =>
    withDatabase(fresh.stores, async (client) => {
      const query = 'SELECT count(*)::int AS ended FROM job WHERE finished_at < $1';
      return (await client.query<{ ended: number }>(query, [moment])).rows[0]?.ended ?? 0;
    });

  it('makes jobs wait, and none fail; when there is room again, all goes on', async () => {
    await ask();
    expect(await cluster.auditAtEnd([partner])).toEqual([]);
    // Under way, and kept so until the disk is full.
    cluster.proxies.storage.make({ is: 'stalled' });
    for (let n = 0; n < 4; n++) await ask();
    const full = keepFull();
    cluster.proxies.storage.make({ is: 'none' });
    await pause(fullMs);
    full.end();
    const hasRoomAgain = new Date();
    await fresh.startAgain();
    await ask();
    expect(await cluster.auditAtEnd([partner], 120)).toEqual([]);
    expect(await endedBefore(hasRoomAgain), 'jobs that ended without having met the full disk').toBe(1);
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
