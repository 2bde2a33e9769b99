import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { suppressionStatus } from '../../src/entry/suppression.ts';
import { inletOutput } from '../support/run-inlet.ts';
import { type ServiceProcess, startApi, startWorker, stopProcess } from '../support/running-service.ts';
import { stagedLoads } from '../support/shard-tables.ts';
import { withDatabase } from '../support/stores.ts';
import { audit, waitForCleanAudit } from './auditor.ts';
import { backUpWhileLoading } from './back-up-while-loading.ts';
import { type FreshServers, startFreshServers } from './fresh-servers.ts';
import type { RecordingPartner } from './partner-history.ts';
import { stagingTableBytes, submitOneOfEach } from './submit-one-of-each.ts';

// Runs the commands in docs/backup.md. They take a backup while partners submit requests and workers load files, and
// restore it into new, empty servers.

const settings = { INLET_ROOM_BYTES: String(stagingTableBytes), INLET_PURGE_SECONDS: '1' };

describe('backup under load', () => {
  const folder = join(mkdtempSync(join(tmpdir(), 'inlet-backup-')), `test-${process.pid}`);
  const lost: number[] = [];
  const processes: ServiceProcess[] = [];
  let partners: readonly RecordingPartner[];
  let fresh: FreshServers;
  let url = '';

  beforeAll(async () => {
    partners = await backUpWhileLoading(folder, settings);
    fresh = await startFreshServers();
    fresh.bringBackup(basename(folder));
    await inletOutput(fresh.stores.environment, ['restore', folder]);
    for (const partner of partners) {
      lost.push(...(await partner.rewind(fresh.stores)).flatMap(({ kind, id }) => (kind === 'import' ? id : [])));
    }
  }, 300_000);
  afterAll(async () => {
    await Promise.all(processes.map(({ child }) => stopProcess(child)));
    await fresh.stores.drop();
    rmSync(join(folder, '..'), { recursive: true, force: true });
  });

  it('a backup contains finished and open jobs and loads in both kinds of staging tables, but no later requests', async () => {
    const jobs = await withDatabase(fresh.stores, async (client) => {
      const { rows } = await client.query<{ is: 'open' | 'ended'; count: number }>(
        `SELECT CASE WHEN status < 2 THEN 'open' ELSE 'ended' END AS is, count(*)::int AS count FROM job GROUP BY 1`,
      );
      return new Map(rows.map(({ is, count }) => [is, count]));
    });
    process.stdout.write(`backup: ${jobs.get('ended')} jobs ended, ${jobs.get('open')} open, ${lost.length} lost\n`);
    expect(jobs.get('ended')).toBeGreaterThan(0);
    expect(jobs.get('open')).toBeGreaterThan(0);
    expect(lost.length).toBeGreaterThan(0);
    const staged = await stagedLoads(fresh.stores);
    expect(staged.some((load) => load.startsWith('room_'))).toBe(true);
    expect(staged.some((load) => !load.startsWith('room_'))).toBe(true);
  });

  it('a backup restores a service that completes every request that was accepted before the backup', async () => {
    const environment = { ...fresh.stores.environment, ...settings };
    const api = await startApi(environment, 'restored');
    url = api.url;
    processes.push(api, await startWorker(environment, 'restored'), await startWorker(environment, 'restored'));
    // A purge that was running during the backup keeps its claim for two minutes.
    await withDatabase(fresh.stores, (client) =>
      client.query(`UPDATE sweep SET next_at = NULL WHERE name = 'purge generations'`),
    );
    expect(await findings()).toEqual([]);
    expect(await inletOutput(fresh.stores.environment, ['doctor'])).not.toContain('FAIL ');
  });

  it('a backup restores the suppression list on every server', async () => {
    const { list, servers } = await suppressionStatus(fresh.stores.config);
    expect(list.hashes).toBe(1);
    expect(servers.map(({ isCurrent }) => isCurrent)).toEqual([true, true]);
  });

  it('a backup has no record of requests that were accepted after it, and their IDs are not reused', async () => {
    const [partner] = partners;
    if (!partner) throw new Error('no partner');
    for (const importId of lost) expect(await partner.through(url).hasImport(importId)).toBe(false);
    const before = partner.submitted.length;
    await submitOneOfEach(partner.through(url));
    const ids = partner.submitted.slice(before).map(({ id }) => id);
    expect(ids.length).toBeGreaterThan(20);
    expect(Math.min(...ids)).toBeGreaterThan(Math.max(...lost));
    expect(await findings()).toEqual([]);
  });

  it('a backup cannot be restored into a database that is not empty', async () => {
    await expect(inletOutput(fresh.stores.environment, ['restore', folder])).rejects.toThrow('not empty');
  });

  const findings = (): Promise<string[]> => waitForCleanAudit(() => audit(fresh.stores, partners), 120);
});
