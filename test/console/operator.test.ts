import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { startApi, stopProcess } from '../support/running-service.ts';
import { withDatabase } from '../support/stores.ts';
import { expectAccessible } from './support/expect-accessible.ts';
import { waitUntilLoaded } from './support/measure.ts';
import { type OpenPage, keepPicture, openUnclosedPage, visit } from './support/open-page.ts';
import { newPartner, sharedStores } from './support/partner.ts';
import { signInAsOperator } from './support/sign-in.ts';

// The work of an operator in the console, except for the lanes, which have a file of their own.

describe('an operator', () => {
  let shared: OpenPage;
  /** An API of the same installation that is configured with a replica that does not answer. */
  let other: Awaited<ReturnType<typeof startApi>>;

  beforeAll(async () => {
    const { environment } = inject('console');
    const withDeadReplica = `${environment['INLET_CLICKHOUSE_URLS']}|http://127.0.0.1:9`;
    const changes = { INLET_CLICKHOUSE_URLS: withDeadReplica, INLET_API_PORT: '0' };
    [shared, other] = await Promise.all([
      openUnclosedPage(),
      startApi({ ...environment, ...changes }, 'console-dead-replica'),
    ]);
    await signInAsOperator(shared.context);
    await shared.page.goto('/console/operator/incidents');
    await waitUntilLoaded(shared.page);
    return async () => {
      await shared.context.close();
      await stopProcess(other.child);
    };
  });

  async function open(name: string): Promise<Page> {
    keepPicture(shared.page);
    await visit(shared.page, `/console/operator/${name}`);
    await waitUntilLoaded(shared.page);
    return shared.page;
  }

  /** Expects that the page shows the incident, and marks it. */
  async function expectIncident(page: Page, anchor: string, symptom: string): Promise<void> {
    await page.waitForURL(`**/console/operator/incidents#${anchor}`);
    const marked = page.locator('article.incident:has(.target)');
    await marked.filter({ hasText: symptom }).waitFor();
    expect(await marked.count()).toBe(1);
  }

  it('finds the failed job of one partner among the jobs of all, the reason, and the command that retries it', async () => {
    const partners = [await newPartner(), await newPartner()] as const;
    const ids = await Promise.all(
      partners.map(async ({ api }) => {
        const id = await api.queue({ file_path: 'missing.csv', key_type: 1 });
        await api.waitForEnd(id);
        return id;
      }),
    );
    const page = await open('jobs');
    const jobs = page.getByRole('table', { name: 'Jobs' });
    for (const { name } of partners) await jobs.getByRole('link', { name, exact: true }).waitFor();
    await page.getByRole('textbox', { name: 'Partner' }).fill(partners[1].name);
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    await page.getByRole('combobox', { name: 'Status' }).selectOption('Failed');
    await page.waitForURL(`**/jobs?partner=${partners[1].name}&status=3`);
    await expect.poll(() => jobs.getByRole('rowheader').allTextContents()).toEqual([String(ids[1])]);
    await jobs.getByRole('link', { name: String(ids[1]), exact: true }).click();
    await page.getByText('No object has the path "missing.csv"').first().waitFor();
    await page.getByText(`inlet jobs retry ${ids[1]}`, { exact: true }).waitFor();
    await page.getByRole('link', { name: partners[1].name, exact: true }).click();
    await page.waitForURL(`**/jobs?partner=${partners[1].name}`);
  });

  it('sees the age of the newest backup, why the last attempt failed, and the command that takes one', async () => {
    await withDatabase(sharedStores(), (client) =>
      client.query(`
        INSERT INTO backup (started_at, finished_at, taken_at, bytes, destination, failure) VALUES
        (now() - interval '73 hours', now() - interval '72 hours', now() - interval '73 hours', 2000000, '/backups/monday', NULL),
        (now() - interval '2 hours', now() - interval '1 hour', NULL, NULL, '/backups/thursday', 'no space left on device')`),
    );
    const page = await open('backups');
    await page.getByText('The newest complete backup is 3 d').waitFor();
    const attempts = page.getByRole('table', { name: 'Newest attempts to take a backup' });
    const failed = attempts.getByRole('row').filter({ hasText: '/backups/thursday' });
    await failed.getByText('no space left on device').waitFor();
    await attempts.getByRole('row').filter({ hasText: '/backups/monday' }).getByText('Complete').waitFor();
    await page
      .getByText(/^inlet backup /)
      .first()
      .waitFor();
    await expectAccessible(page, 'backups with a failed attempt');
  });

  it('sees that all replicas work, or which one does not, and what to do about it', async () => {
    const page = await open('engine');
    await page.getByText('All replicas are working (2 shards, 2 replicas).').waitFor();
    expect(await page.getByRole('table').getByText('Healthy').count()).toBe(2);

    await page.goto(`${other.url}/console/operator/engine`);
    await waitUntilLoaded(page);
    await page.getByText('1 replica unreachable (2 shards, 3 replicas).').waitFor();
    await expectAccessible(page, 'an engine with a fault');
    const fault = page.getByRole('listitem').filter({ hasText: 'Shard 2, replica 2: Unreachable' });
    await fault.getByRole('link', { name: 'What to do' }).click();
    await expectIncident(page, 'unreachable', 'is the server running?');

    await visit(page, '/console/operator/alerts');
    const alert = page.getByRole('article').filter({ hasText: 'InletReplicaUnreachable' });
    await alert.getByText('start the server or fix the network').waitFor();
    await alert.getByRole('link', { name: 'Incident page' }).click();
    await expectIncident(page, 'InletReplicaUnreachable', 'is the server running?');
  });
});
