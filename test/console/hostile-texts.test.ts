import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { audienceClient } from '../acceptance/audience-client.ts';
import { device } from '../support/device-id.ts';
import { hostileTexts } from './support/hostile-texts.ts';
import { waitUntilLoaded } from './support/measure.ts';
import { type OpenPage, openPage, visit } from './support/open-page.ts';
import { type ConsolePartner, newPartner } from './support/partner.ts';
import { signInAsOperator, signInWithKey } from './support/sign-in.ts';

// A partner stores hostile texts in every field that it controls. Every page that shows them must show them as text.

const isLong = inject('campaign') === 'long';
const texts = isLong ? hostileTexts : hostileTexts.slice(0, 10);
/** Most tests open a page for each text. */
const timeoutMs = isLong ? 1_200_000 : 120_000;
/** Enough for a group that a report shows. */
const devicesPerText = 100;

type Hostile = {
  readonly partner: ConsolePartner;
  readonly importLogId: number;
  readonly deleteLogId: number;
  readonly audienceId: number;
  readonly segmentId: number;
  readonly otherIds: readonly number[];
};

/** The page may show a character that changes the direction of the text as an escape sequence. */
const escaped = (text: string): string => text.replaceAll('\u202e', '\\u202e');
/** The API rejects paths with the segment `..`. */
const paths = texts.filter((text) => !text.split('/').includes('..'));
const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;

async function storeHostileTexts(): Promise<Hostile> {
  const partner = await newPartner();
  const first = partner.id * 100_000;
  const keyOf = (text: string): string => text.replaceAll(/[|,\t]/g, ' ').trim();
  for (const text of texts) await partner.createAttribute(text, keyOf(text));
  const known = Array.from({ length: devicesPerText * texts.length }, (_, n) => device(first + n));
  const keys = quoted(texts.map(keyOf).join('|'));
  await partner.upload('known.csv', known.map((id) => `${id},${keys}\n`).join(''));
  await partner.api.waitForEnd(await partner.api.queue({ file_path: 'known.csv', key_type: 1 }));

  // Hostile texts as file names, and in rejected rows.
  for (const [n, text] of texts.entries())
    await partner.upload(`files/${n} ${text}`, `${device(first)},${keys}\n${quoted(text)},${quoted(text)}\n`);
  const importLogId = await partner.api.queue({ file_path: 'files/', key_type: 1, compressed: false });
  await partner.api.waitForEnd(importLogId);
  for (const text of paths) await partner.api.queue({ file_path: `missing ${text}`, key_type: 1, compressed: false });

  const removed = await partner.api.request('/v1/marketplace/delete', {
    method: 'POST',
    body: JSON.stringify({ key_type: 1, keys: texts.map(keyOf) }),
  });
  const deleteLogId = Number(/\d+$/.exec(removed.headers.get('location') ?? '')?.[0]);

  // Hostile texts as the names of audiences, as events, and as files in audiences.
  const events = texts.flatMap((text, n) =>
    known.slice(n * devicesPerText, (n + 1) * devicesPerText).map((id) => `${id},${quoted(text)}\n`),
  );
  await partner.upload('members/events.csv', events.join(''));
  const { audienceId, segmentId } = await partner.audiences.create(texts[0] ?? '', 'members/');
  await partner.audiences.append(audienceId, 'files/');
  const otherIds: number[] = [];
  await partner.upload('one.csv', `${device(first)},buy\n`);
  for (const text of texts.slice(1)) otherIds.push((await partner.audiences.create(text, 'one.csv')).audienceId);
  for (const id of [audienceId, ...otherIds]) await partner.audiences.settled(id, timeoutMs / 1_000);
  return { partner, importLogId, deleteLogId, audienceId, segmentId, otherIds };
}

type Watching = OpenPage & { readonly hits: string[] };

/** Opens a page that records every script, request, and dialog that a hostile text causes. */
async function openWatched(): Promise<Watching> {
  const opened = await openPage();
  const hits: string[] = [];
  await opened.context.exposeFunction('hit', () => void hits.push('script'));
  opened.page.on('dialog', (dialog) => {
    hits.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  opened.context.on('request', (request) => {
    const { pathname, hostname } = new URL(request.url());
    if (pathname.endsWith('hit') || hostname.endsWith('.invalid')) hits.push(request.url());
  });
  return { ...opened, hits };
}

/** Opens every page of a list, and expands everything that is collapsed. */
async function showAll(page: Page): Promise<void> {
  const more = page.getByRole('button', { name: /^(?:Load|Show) more$/ });
  // One list disables its button while it loads, and another one also changes its text.
  const loading = page.getByRole('button', { name: /^(?:Loading …|Show more)$/, disabled: true });
  for (;;) {
    await waitUntilLoaded(page);
    await expect.poll(() => loading.count()).toBe(0);
    if ((await more.count()) === 0) break;
    await more.first().click();
  }
  await page.evaluate(() => document.querySelectorAll('details').forEach((details) => (details.open = true)));
}

/** Returns the hostile texts that a page does not contain as text. Text in input fields counts too. */
async function missingIn(page: Page, expected: readonly string[]): Promise<string[]> {
  const shown = await page.evaluate(() => {
    const fields = [...document.querySelectorAll('input, select')].map((field) =>
      'value' in field ? field.value : '',
    );
    return [document.body.textContent, ...fields].join('\n');
  });
  return expected.filter((text) => !shown.includes(text) && !shown.includes(escaped(text)));
}

async function expectLiteral(opened: Watching, path: string, expected = texts): Promise<void> {
  await opened.page.goto(path);
  await expectShownLiteral(opened, path, expected);
}

/** Opens a page without loading the document again. */
async function expectNextLiteral(opened: Watching, path: string): Promise<void> {
  await visit(opened.page, path);
  await expectShownLiteral(opened, path, []);
}

async function expectShownLiteral(opened: Watching, path: string, expected: readonly string[]): Promise<void> {
  const { page, watched, hits } = opened;
  await showAll(page);
  expect.soft(await missingIn(page, expected), `${path}: texts that are not shown`).toEqual([]);
  expect.soft(hits, `${path}: what the texts did`).toEqual([]);
  expect.soft(watched.violations, `${path}: violations of the content security policy`).toEqual([]);
  expect.soft(watched.errors, `${path}: errors`).toEqual([]);
}

describe(`${texts.length} hostile texts in every field that a partner controls`, { timeout: timeoutMs }, () => {
  let hostile: Hostile;
  beforeAll(async () => {
    hostile = await storeHostileTexts();
  }, timeoutMs);

  async function signedIn(): Promise<Watching> {
    const opened = await openWatched();
    await signInWithKey(opened.context, hostile.partner.apiKey);
    return opened;
  }

  it('hostile texts appear as plain text on the pages of imports', async () => {
    const opened = await signedIn();
    const { importLogId, deleteLogId } = hostile;
    await expectLiteral(opened, '/console/imports', paths);
    await expectLiteral(opened, `/console/imports/${importLogId}`);
    await expectLiteral(opened, `/console/imports/${importLogId}/errors`);
    for (const [n, text] of texts.entries())
      await expectNextLiteral(
        opened,
        `/console/imports/${importLogId}/errors?file=${encodeURIComponent(`files/${n} ${text}`)}`,
      );
    await expectLiteral(opened, `/console/imports/${deleteLogId}`, []);
  });

  it('hostile texts appear as plain text on the pages of audiences', async () => {
    const opened = await signedIn();
    const { audienceId, otherIds } = hostile;
    await expectLiteral(opened, '/console/audiences');
    await expectLiteral(opened, `/console/audiences/${audienceId}`);
    await expectLiteral(opened, `/console/audiences/${audienceId}/errors`);
    for (const [n, id] of otherIds.entries()) {
      await expectNextLiteral(opened, `/console/audiences/${id}`);
      const heading = await opened.page.getByRole('heading', { level: 1 }).textContent();
      expect.soft(heading).toBe(escaped(texts[n + 1] ?? ''));
      await expect.poll(() => opened.page.title()).toContain(escaped(texts[n + 1] ?? ''));
    }
    await expectLiteral(opened, `/console/audiences/${audienceId}/append`, []);
  });

  it('hostile texts appear as plain text in reports and overlaps', async () => {
    const opened = await signedIn();
    const { segmentId, audienceId, otherIds } = hostile;
    await expectLiteral(opened, `/console/segments/${segmentId}/composition?small=include`);
    await expectLiteral(opened, `/console/segments/${segmentId}/composition?small=include&split=event`);
    const others = otherIds.slice(0, 9);
    await expectLiteral(opened, `/console/overlap?audiences=${[audienceId, ...others].join(',')}`, []);
    await opened.page.getByRole('button', { name: 'Count the overlap' }).click();
    await opened.page.getByRole('table').first().waitFor();
    expect.soft(opened.hits).toEqual([]);
    expect.soft(opened.watched.violations).toEqual([]);
  });

  it('hostile texts appear as plain text on the account pages', async () => {
    const opened = await signedIn();
    await expectLiteral(opened, '/console/attributes');
    await expectLiteral(opened, '/console/limits', []);
  });

  it('hostile texts appear as plain text in the names of keys and customers', async () => {
    const partner = await newPartner();
    for (const text of texts) {
      await partner.createKey(text);
      await partner.createCustomer(text);
    }
    const opened = await openWatched();
    await signInWithKey(opened.context, partner.apiKey);
    await expectLiteral(opened, '/console/keys');
    await expectLiteral(opened, '/console/customers');
  });

  it('hostile texts appear as plain text in the prefixes, markers, and files of subscriptions', async () => {
    const path = '/v1/marketplace/subscriptions';
    const send = async (method: string, target: string, body: object): Promise<string> => {
      const answer = await hostile.partner.api.request(target, { method, body: JSON.stringify(body) });
      expect(answer.ok, JSON.stringify(body)).toBe(true);
      return answer.headers.get('location') ?? '';
    };
    const opened = await signedIn();
    const settings = { key_type: 1, compressed: false } as const;
    const ofFiles = await send('POST', path, { prefix: 'files/', ...settings });
    await opened.page.goto(`/console${ofFiles.replace('/v1/marketplace', '')}`);
    await opened.page.getByRole('cell', { name: 'Skipped' }).first().waitFor();
    await expectLiteral(opened, `/console${ofFiles.replace('/v1/marketplace', '')}`);
    for (const [n, text] of paths.entries()) {
      const trigger = { marker: text.replaceAll('/', '') };
      const created = await send('POST', path, { prefix: `${n} ${text}`, trigger, ...settings });
      for (const page of ['', created.replace(path, '')]) {
        await expectNextLiteral(opened, `/console/subscriptions${page}`);
        const shown = await opened.page.getByRole('main').textContent();
        expect.soft(shown).toContain(escaped(text));
        expect.soft(shown).toContain(escaped(trigger.marker));
      }
      await send('DELETE', created, {});
    }
  });

  it('hostile texts appear as plain text in the descriptions and URLs of webhooks, and in events', async () => {
    const send = async (method: string, path: string, text: string): Promise<Response> => {
      const body = { url: `https://hooks.invalid/${text.replaceAll('#', '')}`, description: text };
      const answer = await hostile.partner.api.request(path, { method, body: JSON.stringify(body) });
      expect(answer.ok, text).toBe(true);
      return answer;
    };
    const opened = await signedIn();
    const location = (await send('POST', '/v1/webhooks', texts[0] ?? '')).headers.get('location') ?? '';
    for (const text of texts) {
      await send('PATCH', location, text);
      for (const path of ['/console/webhooks', `/console${location.replace('/v1', '')}`]) {
        await (text === texts[0] ? expectLiteral(opened, path, []) : expectNextLiteral(opened, path));
        expect.soft(await opened.page.getByRole('main').textContent()).toContain(escaped(text));
      }
    }
    await opened.page.getByRole('button', { name: 'Send a test event' }).click();
    await opened.page.getByText('The connection failed').waitFor();
    await opened.page.getByRole('button', { name: 'Change …' }).click();
    await opened.page.getByRole('dialog').waitFor();
    await expectLiteral(opened, '/console/events', []);
    for (const button of await opened.page.getByRole('button', { name: /^JSON/ }).all()) {
      await button.click();
      await opened.page.getByText('"created_at":').waitFor();
      await opened.page.getByRole('button', { name: 'Close' }).click();
    }
    expect.soft(opened.hits).toEqual([]);
    expect.soft(opened.watched).toEqual({ violations: [], errors: [] });
  });

  it('hostile texts appear as plain text in the name of the signed-in customer', async () => {
    for (const text of texts) {
      const { userToken } = await hostile.partner.createCustomer(text);
      await audienceClient(inject('console').url, hostile.partner.apiKey, userToken).create(text, 'one.csv');
      const opened = await openWatched();
      await signInWithKey(opened.context, hostile.partner.apiKey, userToken);
      await expectLiteral(opened, '/console/audiences', []);
      expect.soft(await opened.page.getByRole('banner').textContent()).toContain(escaped(text));
      await opened.context.close();
    }
  });

  it('hostile texts appear as plain text on the operator pages', async () => {
    const opened = await openWatched();
    await signInAsOperator(opened.context);
    const { partner, importLogId } = hostile;
    await expectLiteral(opened, `/console/operator/jobs?partner=${partner.name}`, paths);
    // The page lists a hundred files.
    await expectLiteral(opened, `/console/operator/jobs/${importLogId}`, isLong ? [] : texts);
    await expectLiteral(opened, `/console/operator/partners`, []);
    await expectLiteral(opened, `/console/operator/lanes`, []);
  });

  it('hostile texts appear as plain text in the names of chosen files', async () => {
    const opened = await signedIn();
    await opened.page.goto('/console/imports/new');
    await waitUntilLoaded(opened.page);
    const files = texts.map((name) => ({ name, mimeType: '', buffer: Buffer.from(`${quoted(name)},x\n`) }));
    await opened.page.getByLabel('Files to upload').setInputFiles(files);
    await opened.page.getByText('would fail').first().waitFor();
    await waitUntilLoaded(opened.page);
    expect.soft(opened.hits).toEqual([]);
    expect.soft(opened.watched).toEqual({ violations: [], errors: [] });
  });

  it('hostile texts have no effect in addresses', async () => {
    const opened = await signedIn();
    for (const [n, text] of texts.entries()) {
      const part = encodeURIComponent(text);
      const addresses = [
        `imports?path=${part}&status=${part}`,
        `audiences?name=${part}&from=${part}`,
        `overlap?audiences=${part}`,
        `segments/${hostile.segmentId}/composition?order=${part}&split=${part}&country=${part}`,
        part,
      ];
      // Every text is tried in one of the addresses, and every address with some of the texts.
      await expectLiteral(opened, `/console/${addresses[n % addresses.length]}`, []);
    }
  });

  it('hostile texts have no effect in the address of the sign-in page', async () => {
    const opened = await openWatched();
    for (const text of texts) {
      const part = encodeURIComponent(text);
      await expectLiteral(opened, `/console/sign-in?error=${part}&return_to=${part}`, []);
      expect.soft(new URL(opened.page.url()).origin).toBe(inject('console').url);
    }
  });
});
