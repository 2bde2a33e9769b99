import type { Page } from 'playwright-core';
import { describe, expect, inject, it } from 'vitest';
import { withDatabase } from '../support/stores.ts';
import { findViolations } from './support/find-violations.ts';
import { waitUntilLoaded } from './support/measure.ts';
import { openPage } from './support/open-page.ts';
import { newPartner, sharedStores } from './support/partner.ts';
import { signInWithKey } from './support/sign-in.ts';

/** Signs in through the OpenID provider, whose page lists the accounts. */
async function signInAs(page: Page, account: string): Promise<void> {
  await page.getByRole('link', { name: 'Continue with single sign-on' }).click();
  await page.getByRole('heading', { name: 'Choose an account' }).waitFor();
  await page.getByRole('button', { name: account }).click();
}

async function endSession(page: Page): Promise<void> {
  const session = (await page.context().cookies()).find(({ name }) => name === 'inlet_session');
  expect(session?.value).toBeTruthy();
  await withDatabase(sharedStores(), (client) =>
    client.query(
      `UPDATE console_session SET idle_expires_at = now() WHERE token_hash = sha256(convert_to($1, 'UTF8'))`,
      [session?.value],
    ),
  );
}

describe('signing in through an OpenID provider', () => {
  it.for([
    ['Dana Fox', '/console/imports', 'Imports', ['Imports', 'Audiences', 'Overlap', 'Attributes', 'Limits']],
    ['Carl Retail', '/console/audiences', 'Audiences', ['Audiences', 'Overlap', 'Limits']],
    ['Olga Operator', '/console/operator/lanes', 'Lanes', ['Lanes', 'Jobs', 'Partners', 'Engine', 'Backups', 'Alerts']],
  ] as const)("shows %s the pages for the account's role", async ([account, path, title, navigation]) => {
    const { page, watched } = await openPage();
    await page.goto('/console/');
    await page.getByRole('heading', { name: 'Sign in to Inlet' }).waitFor();
    await signInAs(page, account);
    await page.waitForURL(path);
    await page.getByRole('heading', { name: title, level: 1 }).waitFor();
    const links = await page.getByRole('navigation', { name: 'Main' }).getByRole('link').allTextContents();
    expect(links).toEqual(expect.arrayContaining([...navigation]));
    await page.getByRole('banner').getByText(account).waitFor();
    expect(watched).toEqual({ violations: [], errors: [] });
  });

  it('returns to the requested page', async () => {
    const { page } = await openPage();
    await page.goto('/console/imports?status=3');
    await signInAs(page, 'Dana Fox');
    await page.waitForURL('/console/imports?status=3');
    await page.getByText('No imports match these filters').waitFor();
  });

  it.for([
    'https://evil.invalid/',
    '//evil.invalid/',
    '/\\evil.invalid/',
    'javascript:alert(1)',
    '/console/../../evil.invalid',
    '/console/auth/sign-out',
  ])('does not return to %s', async (address) => {
    const { page } = await openPage();
    const { url } = inject('console');
    const requests: string[] = [];
    page.on('request', (request) => void requests.push(request.url()));
    await page.goto(`/console/sign-in?return_to=${encodeURIComponent(address)}`);
    await signInAs(page, 'Dana Fox');
    await page.waitForURL('/console/imports');
    expect(requests.filter((request) => request.includes('evil') && !request.startsWith(url))).toEqual([]);
  });

  it('says why the sign-in failed if the user cancels or has no access', async () => {
    const { page } = await openPage();
    await page.goto('/console/');
    await signInAs(page, 'Cancel');
    await page.getByRole('alert').getByText('The sign-in was canceled.').waitFor();
    await signInAs(page, 'Sam Stranger');
    await page.getByRole('alert').getByText('Your account belongs to a partner that does not exist here.').waitFor();
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Sign in to Inlet');
  });
});

describe('a page for another role', () => {
  it('says that the account has no access to it, unlike a page that does not exist', async () => {
    const partner = await newPartner();
    const { page, context } = await openPage();
    await signInWithKey(context, partner.apiKey);
    await page.goto('/console/operator/lanes');
    await page.getByRole('heading', { name: 'Your account has no access to this page' }).waitFor();
    await page.goto('/console/operator/nonsense');
    await page.getByRole('heading', { name: 'This page does not exist' }).waitFor();
  });
});

describe('a session', () => {
  it('ends at the sign-out, including in other tabs and when the user goes back', async () => {
    const partner = await newPartner();
    const { page, context } = await openPage();
    await signInWithKey(context, partner.apiKey);
    const other = await context.newPage();
    await other.goto('/console/limits');
    await waitUntilLoaded(other);
    await page.goto('/console/attributes');
    await waitUntilLoaded(page);
    const [cookie] = await context.cookies();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in to Inlet' }).waitFor();
    expect(await context.cookies()).toEqual([]);
    const replayed = await fetch(`${inject('console').url}/v1/marketplace/attributes`, {
      headers: { cookie: `${cookie?.name}=${cookie?.value}` },
    });
    expect(replayed.status).toBe(401);
    await page.goBack();
    await page.getByRole('heading', { name: 'Sign in to Inlet' }).waitFor();
    await other.getByRole('link', { name: 'Attributes' }).click();
    await other.getByText('Your session has ended.').waitFor();
  });

  it('says when a sign-out failed, and can try again', async () => {
    const partner = await newPartner();
    const { page, context } = await openPage();
    await signInWithKey(context, partner.apiKey);
    await page.goto('/console/limits');
    await waitUntilLoaded(page);
    await context.setOffline(true);
    await page.getByRole('button', { name: 'Sign out' }).click();
    const dialog = page.getByRole('dialog', { name: 'You are still signed in' });
    await dialog.waitFor();
    expect(await findViolations(page)).toEqual([]);
    expect(await context.cookies()).toHaveLength(1);
    await context.setOffline(false);
    await dialog.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'Sign in to Inlet' }).waitFor();
    expect(await context.cookies()).toEqual([]);
  });

  it('asks an idle user before it ends, and continues if the user stays', async () => {
    const partner = await newPartner();
    const { page, context } = await openPage();
    await page.clock.install();
    await signInWithKey(context, partner.apiKey);
    await page.goto('/console/limits');
    await page.getByRole('table', { name: 'Quotas' }).waitFor();
    await page.waitForLoadState('networkidle');
    const [cookie] = await context.cookies();
    const ofCookie = `token_hash = sha256(convert_to($1, 'UTF8'))`;
    await withDatabase(sharedStores(), (client) =>
      client.query(`UPDATE console_session SET idle_expires_at = now() + interval '5 minutes' WHERE ${ofCookie}`, [
        cookie?.value,
      ]),
    );
    const checked = page.waitForResponse('**/console/auth/session');
    await page.evaluate(() => window.dispatchEvent(new Event('focus')));
    await (await checked).finished();
    await page.clock.runFor('02:00');
    expect(await page.getByRole('dialog').count()).toBe(0);
    await page.clock.runFor('01:05');
    const dialog = page.getByRole('dialog', { name: 'Are you still there?' });
    await dialog.getByText('because you have been inactive').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Stay signed in' }).click();
    await dialog.waitFor({ state: 'detached' });
    const later = await withDatabase(sharedStores(), (client) =>
      client.query(
        `SELECT FROM console_session WHERE idle_expires_at > now() + interval '20 minutes' AND ${ofCookie}`,
        [cookie?.value],
      ),
    );
    expect(later.rowCount).toBe(1);
  });

  it('says when it has expired, and returns to the same page after the next sign-in', async () => {
    const { page } = await openPage();
    await page.goto('/console/');
    await signInAs(page, 'Dana Fox');
    await page.waitForURL('/console/imports');
    await endSession(page);
    await page.getByRole('link', { name: 'Limits' }).click();
    await page.getByText('Your session has ended.').waitFor();
    await page.getByRole('link', { name: 'Sign in again' }).click();
    await signInAs(page, 'Dana Fox');
    await page.waitForURL('/console/limits');
    await page.getByRole('table', { name: 'Quotas' }).waitFor();
  });
});
