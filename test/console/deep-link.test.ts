import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import { audienceDetailsSchema } from '../../src/adapters/http/records/audience.ts';
import { compositionSchema } from '../../src/adapters/http/routes/get-composition.ts';
import { audienceClient } from '../acceptance/audience-client.ts';
import { withDatabase } from '../support/stores.ts';
import { findViolations } from './support/find-violations.ts';
import { openPage } from './support/open-page.ts';
import { type ConsolePartner, loadReport, newPartner, sharedStores } from './support/partner.ts';
import { expectedTable, readReportTable } from './support/report-table.ts';
import { signInWithKey } from './support/sign-in.ts';

// A partner's backend exchanges its API key and the customer's token for a link and redirects the customer to it.

describe('a one-time link to a report', () => {
  let partner: ConsolePartner;
  let customer: { readonly userToken: string };
  let report: { readonly audienceId: number; readonly segmentId: number };
  let other: { readonly segmentId: number };

  beforeAll(async () => {
    partner = await newPartner();
    customer = await partner.createCustomer('Retail Co');
    const audiences = audienceClient(inject('console').url, partner.apiKey, customer.userToken);
    report = await loadReport(partner, audiences);
    other = await audiences.create('Other', 'members.csv');
  });

  async function createLink(): Promise<URL> {
    const { userToken } = customer;
    const answer = await partner.api.request(`/v2/firstparty/segments/${report.segmentId}/console-links`, {
      method: 'POST',
      headers: { 'x-user-token': userToken },
    });
    expect(answer.status).toBe(201);
    return new URL(z.object({ url: z.string() }).parse(await answer.json()).url);
  }

  it('opens only the report of its audience', async () => {
    const { page, context } = await openPage();
    await page.goto((await createLink()).href);
    await page.waitForURL(`/console/segments/${report.segmentId}/composition`);
    const session = await context.request.get('/console/auth/session');
    expect(await session.json()).toMatchObject({ role: 'link', segment_id: report.segmentId });
    expect(await page.getByRole('navigation', { name: 'Main' }).count()).toBe(0);
    const paths = [
      `/v2/firstparty/segments/${other.segmentId}/composition`,
      '/v2/firstparty/audience',
      '/v1/marketplace/import',
    ];
    for (const path of paths) expect((await context.request.get(path)).status()).toBe(403);
  });

  it('shows the same numbers as the API', async () => {
    const { page, context } = await openPage();
    await page.goto((await createLink()).href);
    const shown = await readReportTable(page);
    const path = `/v2/firstparty/segments/${report.segmentId}/composition?order=index&small=omit&limit=50`;
    const answer = compositionSchema.parse(await (await context.request.get(path)).json());
    expect(answer.attributes.map(({ name }) => name)).toEqual(expect.arrayContaining(['travel', 'sports', 'music']));
    expect(shown).toEqual(expectedTable(answer));
    const audience = await partner.api.request(`/v2/firstparty/audience/${report.audienceId}`, {
      headers: { 'x-user-token': customer.userToken },
    });
    const { uploaded_devices, unique_devices, matched_devices } = audienceDetailsSchema.parse(await audience.json());
    const funnel = await page
      .getByRole('list', { name: 'From upload to match' })
      .getByRole('listitem')
      .allTextContents();
    for (const [step, devices] of [uploaded_devices, unique_devices, matched_devices].entries())
      expect(funnel[step]).toContain(devices.toLocaleString('en-US'));
    // The page isolates names, so that right-to-left text does not change the order of the rest.
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Who is in “\u2068Summer buyers\u2069”?');
    await page.getByText('over-indexes on \u2068travel\u2069').waitFor();
  });

  it('leaves no token in the address', async () => {
    const { page } = await openPage();
    const link = await createLink();
    await page.goto(link.href);
    await page.waitForURL(`/console/segments/${report.segmentId}/composition`);
    await page.goBack();
    expect(page.url()).not.toContain(link.hash.slice(1));
  });

  it("asks before it replaces a user's session, and lets the user stay signed in", async () => {
    const { page, context } = await openPage();
    await signInWithKey(context, partner.apiKey);
    const roleOf = async (): Promise<unknown> => (await context.request.get('/console/auth/session')).json();
    await page.goto((await createLink()).href);
    await page.getByRole('heading', { name: 'Open this report as a read-only link?' }).waitFor();
    await page.getByText(partner.name).first().waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Stay signed in' }).click();
    await page.waitForURL('/console/imports');
    expect(await roleOf()).toMatchObject({ role: 'partner' });
    await page.goto((await createLink()).href);
    await page.getByRole('button', { name: 'Open the report' }).click();
    await page.waitForURL(`/console/segments/${report.segmentId}/composition`);
    expect(await roleOf()).toMatchObject({ role: 'link' });
    // Another link's report opens without a question.
    await page.goto((await createLink()).href);
    await page.waitForURL(`/console/segments/${report.segmentId}/composition`);
  });

  it('ends its session when the report is closed', async () => {
    const { page, context } = await openPage();
    await page.goto((await createLink()).href);
    await readReportTable(page);
    const [cookie] = await context.cookies();
    await page.getByRole('button', { name: 'Close this report' }).click();
    await page.getByRole('heading', { name: 'The report is closed' }).waitFor();
    await page.getByText(`open it from the application of ${partner.name}`).waitFor();
    expect(await findViolations(page)).toEqual([]);
    expect(await context.cookies()).toEqual([]);
    const replayed = await fetch(`${inject('console').url}/console/auth/session`, {
      headers: { cookie: `${cookie?.name}=${cookie?.value}` },
    });
    expect(await replayed.json()).toMatchObject({ signed_in: false });
  });

  it('can be opened again after the connection was lost', async () => {
    const { page } = await openPage();
    await page.route('**/console/auth/link', (route) => route.abort());
    await page.goto((await createLink()).href);
    await page.getByRole('heading', { name: 'The report could not be opened' }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.unroute('**/console/auth/link');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.waitForURL(`/console/segments/${report.segmentId}/composition`);
  });

  it('is rejected after it was used', async () => {
    const link = await createLink();
    const { page } = await openPage();
    await page.goto(link.href);
    await page.waitForURL(`/console/segments/${report.segmentId}/composition`);
    await expectRefused((await openPage()).page, link);
  });

  it('is rejected after it has expired', async () => {
    const link = await createLink();
    await withDatabase(sharedStores(), (client) =>
      client.query(`UPDATE console_link SET expires_at = now() WHERE partner_id = $1 AND used_at IS NULL`, [
        partner.id,
      ]),
    );
    await expectRefused((await openPage()).page, link);
  });

  it('is rejected if its token was changed', async () => {
    const link = await createLink();
    const { page } = await openPage();
    const flipped = link.hash.at(-2) === 'A' ? 'B' : 'A';
    await expectRefused(page, new URL(link.hash.slice(0, -2) + flipped + link.hash.slice(-1), link));
    await expectRefused(page, new URL('#', link));
    await expectRefused(page, new URL('#<script>hit()</script>', link));
  });

  it('does not open the report of another audience', async () => {
    const { page } = await openPage();
    await page.goto((await createLink()).href);
    await page.waitForURL(`/console/segments/${report.segmentId}/composition`);
    await page.goto(`/console/segments/${other.segmentId}/composition`);
    await page.getByRole('alert').getByText('You do not have access').waitFor();
  });
});

async function expectRefused(page: Page, link: URL): Promise<void> {
  await page.goto('about:blank');
  await page.goto(link.href);
  await page.getByRole('heading', { name: 'This link cannot be opened' }).waitFor();
  const alert = await page.getByRole('alert').textContent();
  expect(alert).toBe('This link has expired or was already used. Open the report again from your application.');
}
