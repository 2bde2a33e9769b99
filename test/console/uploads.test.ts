import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page, Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { importFileListSchema } from '../../src/adapters/http/records/import-log.ts';
import { rows } from '../support/file-rows.ts';
import { findViolations } from './support/find-violations.ts';
import { openPage } from './support/open-page.ts';
import { type ConsolePartner, newPartner } from './support/partner.ts';
import { signInWithKey } from './support/sign-in.ts';

// An import loads a whole folder, so the folder must contain exactly the files that the page shows.

type File = { readonly name: string; readonly path: string };

/** A file on disk keeps its modification time, which the page uses to recognize it after a reload. */
const folder = mkdtempSync(join(tmpdir(), 'inlet-uploads-'));

function fileOf(n: number): File {
  const name = `${n}.csv`;
  const path = join(folder, name);
  if (!existsSync(path)) writeFileSync(path, rows(n * 10, n * 10 + 10, 'sport'));
  return { name, path };
}

describe('an upload of several files', () => {
  let partner: ConsolePartner;

  beforeAll(async () => {
    partner = await newPartner();
    await partner.createAttribute('sport', 'sport');
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  const openForm = async (page: Page): Promise<Page> => {
    page.on('dialog', (dialog) => void dialog.accept());
    await page.goto('/console/imports/new');
    return page;
  };
  const signedIn = async (): Promise<Page> => {
    const { page, context } = await openPage();
    await signInWithKey(context, partner.apiKey);
    return page;
  };
  const choose = async (page: Page, ...files: readonly File[]): Promise<void> => {
    await page.getByLabel('Files to upload').setInputFiles(files.map(({ path }) => path));
    for (const { name } of files) await rowOf(page, name).waitFor();
    await page
      .getByText(/rows are valid|rows, all valid/)
      .first()
      .waitFor();
  };
  const rowOf = (page: Page, name: string) =>
    page.locator('ul.chosen > li').filter({ has: page.getByText(name, { exact: true }) });
  /** Waits until the file is uploaded. An upload of several files sends them concurrently, in any order. */
  const uploaded = (page: Page, name: string): Promise<void> =>
    rowOf(page, name).getByText('Uploaded', { exact: true }).waitFor();
  /** Makes the part of one file fail. */
  const cut = async (page: Page, name: string): Promise<() => Promise<void>> => {
    const pattern = (url: URL): boolean => url.searchParams.has('partNumber') && url.pathname.endsWith(`/${name}`);
    const handler = (route: Route): Promise<void> => route.fulfill({ status: 400 });
    await page.route(pattern, handler);
    return () => page.unroute(pattern, handler);
  };
  const submit = (page: Page): Promise<void> =>
    page.getByRole('button', { name: /^(Upload and import|Continue)$/ }).click();
  /** Waits for the import and returns the names of its files. */
  async function importedFiles(page: Page): Promise<string[]> {
    await page.waitForURL(/\/console\/imports\/\d+$/);
    const id = Number(page.url().split('/').at(-1));
    expect(await partner.api.waitForEnd(id)).toMatchObject({ status: 2 });
    const answer = await partner.api.request(`/v1/marketplace/import/${id}/files`);
    const files = importFileListSchema.parse(await answer.json());
    return files.map(({ file }) => file.split('/').at(-1) ?? '');
  }

  it('imports the files of an upload that a reload interrupted only if the page shows them', async () => {
    const page = await openForm(await signedIn());
    await choose(page, fileOf(1), fileOf(2), fileOf(3));
    const restore = await cut(page, '3.csv');
    await submit(page);
    await rowOf(page, '3.csv').getByText('Not uploaded').waitFor();
    for (const name of ['1.csv', '2.csv']) await uploaded(page, name);
    await restore();
    await page.reload();
    await page.getByText('An upload was interrupted.').waitFor();
    await choose(page, fileOf(2));
    await page.getByRole('heading', { name: 'Uploaded before the interruption' }).waitFor();
    await uploaded(page, '1.csv');
    await page.getByRole('heading', { name: /^2 files/ }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await submit(page);
    expect(await importedFiles(page)).toEqual(['1.csv', '2.csv']);
    const again = await openForm(await page.context().newPage());
    expect(await again.getByText('An upload was interrupted.').count()).toBe(0);
  });

  it('does not import the files of an interrupted upload that the page does not show', async () => {
    const page = await openForm(await signedIn());
    await choose(page, fileOf(1), fileOf(2));
    const restore = await cut(page, '2.csv');
    await submit(page);
    await rowOf(page, '2.csv').getByText('Not uploaded').waitFor();
    await uploaded(page, '1.csv');
    await restore();
    await page.reload();
    await choose(page, fileOf(2));
    await page.getByRole('button', { name: 'Leave it out' }).click();
    await page.getByRole('heading', { name: /^1 file,/ }).waitFor();
    await submit(page);
    expect(await importedFiles(page)).toEqual(['2.csv']);
  });

  it('does not import a file that was removed after it was uploaded', async () => {
    const page = await openForm(await signedIn());
    await choose(page, fileOf(1), fileOf(2), fileOf(3));
    const restore = await cut(page, '3.csv');
    await submit(page);
    await rowOf(page, '3.csv').getByText('Not uploaded').waitFor();
    for (const name of ['1.csv', '2.csv']) await uploaded(page, name);
    await restore();
    await rowOf(page, '1.csv').getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('heading', { name: /^2 files/ }).waitFor();
    await submit(page);
    expect(await importedFiles(page)).toEqual(['2.csv', '3.csv']);
  });

  it('imports the fixed version of a file that was already uploaded', async () => {
    const page = await openForm(await signedIn());
    await choose(page, fileOf(1), fileOf(2));
    const restore = await cut(page, '2.csv');
    await submit(page);
    await rowOf(page, '2.csv').getByText('Not uploaded').waitFor();
    await uploaded(page, '1.csv');
    await restore();
    const fixed = join(mkdtempSync(join(folder, 'fixed-')), '1.csv');
    writeFileSync(fixed, rows(40, 45, 'sport'));
    await choose(page, { name: '1.csv', path: fixed });
    await submit(page);
    expect(await importedFiles(page)).toEqual(['1.csv', '2.csv']);
    expect((await partner.api.list())[0]).toMatchObject({ total_rows: '15' });
  });

  it('does not resume an upload that is running in another tab', async () => {
    const one = await openForm(await signedIn());
    await choose(one, fileOf(1), fileOf(2));
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    await one.route(/partNumber=/, async (route) => {
      await held;
      await route.continue();
    });
    const waiting = one.waitForRequest(/partNumber=/);
    await submit(one);
    await waiting;
    const other = await openForm(await one.context().newPage());
    await choose(other, fileOf(1));
    expect(await other.getByText('An upload was interrupted.').count()).toBe(0);
    await submit(other);
    expect(await importedFiles(other)).toEqual(['1.csv']);
    release();
    expect(await importedFiles(one)).toEqual(['1.csv', '2.csv']);
  });
});
