import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import { apiClient } from '../acceptance/api-client.ts';
import { createPartner, type TestPartner } from '../support/partners.ts';
import { type Service, startService } from '../support/running-service.ts';
import { waitUntil } from '../support/wait-until.ts';
import { type ConsoleStores, createConsoleStores } from './support/console-service.ts';
import { type LargeAccount, fillLargeAccount } from './support/large-account.ts';
import { waitUntilLoaded } from './support/measure.ts';
import { openPage } from './support/open-page.ts';
import { signInWithKey } from './support/sign-in.ts';

// An account with 1,000,000 imports, 100,000 audiences, an import with 10,000 files and 10,000,000 rejected rows, and a
// report with 5,000 attributes. Tested only in the long run, because filling the account takes minutes, and measuring
// times requires an idle machine.

const maxMs = 1_000;
const maxMegabytes = 150;
const maxResponseKilobytes = 200;

type Measured = {
  readonly name: string;
  readonly loadedMs: number;
  readonly megabytes: number;
  readonly largestResponseKilobytes: number;
};

describe.runIf(inject('campaign') === 'long')(
  'a very large account',
  () => {
    let service: ConsoleStores;
    let processes: Service;
    let partner: TestPartner;
    let account: LargeAccount;
    const table: Measured[] = [];

    beforeAll(async () => {
      service = await createConsoleStores();
      partner = await createPartner(service.stores.environment);
      account = await fillLargeAccount(service.stores, partner.id);
      processes = await startService(service.stores.environment, 'console-scale');
      await readReport();
    });
    afterAll(async () => {
      for (const { name, loadedMs, megabytes, largestResponseKilobytes } of table)
        process.stdout.write(
          `${name.padEnd(60)} ${loadedMs.toFixed(0).padStart(6)} ms ${megabytes.toFixed(0).padStart(5)} MB ` +
            `${largestResponseKilobytes.toFixed(0).padStart(5)} kB\n`,
        );
      await processes.stop();
      await service.stores.drop();
    });

    /** The worker computes the report once, which is not what this test measures. */
    async function readReport(): Promise<void> {
      const { request } = apiClient(service.url, partner.apiKey);
      const path = `/v2/firstparty/segments/${account.segmentId}/composition`;
      await waitUntil('the report is computed', async () => (await request(path)).ok, 300);
    }

    async function openSignedIn(): ReturnType<typeof openPage> {
      const opened = await openPage({ baseURL: service.url });
      await signInWithKey(opened.context, partner.apiKey);
      return opened;
    }

    const paths: readonly (readonly [name: string, path: (of: LargeAccount) => string])[] = [
      ['imports', () => '/console/imports'],
      ['imports: failed', () => '/console/imports?status=3'],
      ['imports: open (none exist)', () => '/console/imports?status=0,1'],
      ['imports: with a path', () => '/console/imports?path=daily/500000'],
      ['imports: with a path that does not exist', () => '/console/imports?path=no-such-path'],
      ['imports: from one month', () => '/console/imports?from=2026-01-01&to=2026-01-31'],
      ['import with 10,000 files', ({ importLogId }) => `/console/imports/${importLogId}`],
      ['its rejected rows', ({ importLogId }) => `/console/imports/${importLogId}/errors`],
      [
        'its rejected rows with one reason',
        ({ importLogId }) => `/console/imports/${importLogId}/errors?code=invalid_id`,
      ],
      [
        'its rejected rows from the last file',
        ({ importLogId }) => `/console/imports/${importLogId}/errors?file=large%2F10000.csv.gz`,
      ],
      ['audiences', () => '/console/audiences'],
      ['audiences: failed (none exist)', () => '/console/audiences?status=3'],
      ['audiences: with a name', () => '/console/audiences?name=99999'],
      ['audiences: with a name that does not exist', () => '/console/audiences?name=no-such-name'],
      ['audience', ({ audienceId }) => `/console/audiences/${audienceId}`],
      ['report with 5,000 attributes', ({ segmentId }) => `/console/segments/${segmentId}/composition`],
      ['overlap', ({ audienceId }) => `/console/overlap?audiences=${audienceId}`],
      ['attributes', () => '/console/attributes'],
      ['limits', () => '/console/limits'],
      ['new import', () => '/console/imports/new'],
    ];

    it.for(paths)(
      '%s: is interactive within a second, uses little memory, and loads only small responses',
      async ([name, path]) => {
        const { page } = await openSignedIn();
        const sizes: Promise<number>[] = [];
        page.on('requestfinished', (request) => {
          sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
        });
        // The first visit fills the browser's cache and warms up the servers. Its responses are complete, whereas those of
        // the second visit can be 304.
        await page.goto(path(account));
        await waitUntilLoaded(page);
        await page.goto(path(account));
        const loadedMs = await waitUntilLoaded(page);
        const measured: Measured = {
          name,
          loadedMs,
          megabytes: await memoryOf(page),
          largestResponseKilobytes: Math.max(0, ...(await Promise.all(sizes))) / 1_000,
        };
        table.push(measured);
        expect.soft(await page.getByRole('alert').allTextContents()).toEqual([]);
        expect.soft(measured.loadedMs).toBeLessThanOrEqual(maxMs);
        expect.soft(measured.megabytes).toBeLessThanOrEqual(maxMegabytes);
        expect.soft(measured.largestResponseKilobytes).toBeLessThanOrEqual(maxResponseKilobytes);
      },
    );
  },
  1_200_000,
);

const processesSchema = z.object({ processInfo: z.array(z.object({ type: z.string(), id: z.int() })) });

/**
 * Returns the memory of the browser's largest renderer process, in megabytes. Shared memory is divided among the
 * processes that share it.
 */
async function memoryOf(page: Page): Promise<number> {
  const session = await page.context().browser()?.newBrowserCDPSession();
  const { processInfo } = processesSchema.parse(await session?.send('SystemInfo.getProcessInfo'));
  await session?.detach();
  const sizes = processInfo
    .filter(({ type }) => type === 'renderer')
    .map(({ id }) => Number(/^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${id}/smaps_rollup`, 'utf8'))?.[1]) / 1_000);
  return Math.max(...sizes);
}
