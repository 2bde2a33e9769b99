import { randomBytes } from 'node:crypto';
import type { Page } from 'playwright-core';
import { describe, expect, inject, it } from 'vitest';
import { openPage } from './support/open-page.ts';
import { serveOtherSite } from './support/other-site.ts';
import { newPartner } from './support/partner.ts';
import { signInWithKey } from './support/sign-in.ts';

const cookieName = 'inlet_session';

describe('pages of other sites', () => {
  it('other sites cannot show the console in a frame', async () => {
    const { url } = inject('console');
    const partner = await newPartner();
    const { page, context } = await openPage();
    await signInWithKey(context, partner.apiKey);
    const { sameSite, crossSite } = await serveOtherSite(`<iframe src="${url}/console/"></iframe>`);
    for (const site of [sameSite, crossSite]) {
      const refused = page.waitForEvent('console', (message) => message.text().includes('frame-ancestors'));
      await page.goto(site);
      await refused;
    }
    const answer = await context.request.get('/console/');
    const headers = answer.headers();
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
    expect(headers['x-content-type-options']).toBe('nosniff');
  });

  it('other sites cannot change data with the session cookie', async () => {
    const { url } = inject('console');
    const partner = await newPartner();
    const { page, context } = await openPage();
    await signInWithKey(context, partner.apiKey);
    const body = JSON.stringify({ file_path: 'forged.csv', key_type: 1, x: '=' });
    const { sameSite, crossSite } = await serveOtherSite('<h1>Another site</h1>');
    for (const site of [sameSite, crossSite]) {
      for (const enctype of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
        await page.goto(site);
        expect([401, 403, 415]).toContain(await submitForm(page, `${url}/v1/marketplace/import`, enctype, body));
      }
      await page.goto(site);
      await fetchAcrossOrigins(page, `${url}/v1/marketplace/import`, body);
      await fetchAcrossOrigins(page, `${url}/console/auth/sign-out`, '{}');
    }
    expect(await partner.api.list()).toEqual([]);
    const session = await context.request.get('/console/auth/session');
    expect(await session.json()).toMatchObject({ signed_in: true, partner: partner.name });
  });

  it('other sites cannot sign the browser in with their own key', async () => {
    const { url } = inject('console');
    const [attacker, victim] = [await newPartner(), await newPartner()];
    const { page, context } = await openPage();
    await signInWithKey(context, victim.apiKey);
    const { sameSite, crossSite } = await serveOtherSite('<h1>Another site</h1>');
    const body = JSON.stringify({ api_key: attacker.apiKey, user_token: '=' });
    for (const site of [sameSite, crossSite]) {
      await page.goto(site);
      expect(await submitForm(page, `${url}/console/auth/api-key`, 'text/plain', body)).toBe(415);
      await page.goto(site);
      await fetchAcrossOrigins(page, `${url}/console/auth/api-key`, body);
    }
    const session = await context.request.get('/console/auth/session');
    expect(await session.json()).toMatchObject({ signed_in: true, partner: victim.name });
  });

  it('other sites cannot read data with the session cookie', async () => {
    const { url } = inject('console');
    const partner = await newPartner();
    const { page, context } = await openPage();
    await signInWithKey(context, partner.apiKey);
    const { sameSite, crossSite } = await serveOtherSite('<h1>Another site</h1>');
    for (const site of [sameSite, crossSite]) {
      await page.goto(site);
      for (const path of ['/console/auth/session', '/v1/marketplace/import']) {
        const text = await page.evaluate(
          (address) =>
            fetch(address, { credentials: 'include' }).then(
              (answer) => answer.text(),
              () => 'blocked',
            ),
          url + path,
        );
        expect(text).toBe('blocked');
      }
    }
  });
});

describe('the session cookie', () => {
  it('is not readable by scripts and is new after every sign-in', async () => {
    const [attacker, victim] = [await newPartner(), await newPartner()];
    const { page, context } = await openPage();
    const { url } = inject('console');
    await signInWithKey(context, attacker.apiKey);
    const planted = await valueOfCookie();
    await signInWithKey(context, victim.apiKey);
    const own = await valueOfCookie();
    expect(own).not.toBe(planted);
    await page.goto('/console/');
    expect(await page.evaluate(() => document.cookie)).toBe('');
    for (const value of [planted, randomBytes(32).toString('base64url')]) {
      const session = await fetch(`${url}/console/auth/session`, { headers: { cookie: `${cookieName}=${value}` } });
      expect(await session.json()).toMatchObject({ signed_in: false });
      const list = await fetch(`${url}/v1/marketplace/import`, { headers: { cookie: `${cookieName}=${value}` } });
      expect(list.status).toBe(401);
    }

    async function valueOfCookie(): Promise<string> {
      const found = (await context.cookies()).find(({ name }) => name === cookieName);
      expect(found).toMatchObject({ httpOnly: true, sameSite: 'Lax', path: '/' });
      return found?.value ?? '';
    }
  });

  it('is ignored if someone planted a chosen token before the sign-in', async () => {
    const { url } = inject('console');
    const partner = await newPartner();
    const { context } = await openPage();
    const chosen = randomBytes(32).toString('base64url');
    await context.addCookies([{ name: cookieName, value: chosen, url }]);
    await signInWithKey(context, partner.apiKey);
    const session = await fetch(`${url}/console/auth/session`, { headers: { cookie: `${cookieName}=${chosen}` } });
    expect(await session.json()).toMatchObject({ signed_in: false });
  });
});

/** Submits a form from the page and returns the status of the response that the browser then shows. */
async function submitForm(page: Page, action: string, enctype: string, body: string): Promise<number | undefined> {
  const [answer] = await Promise.all([
    page.waitForResponse(action),
    page.waitForURL(action),
    postForm(page, action, enctype, body),
  ]);
  return answer.status();
}

async function postForm(page: Page, action: string, enctype: string, body: string): Promise<void> {
  await page.evaluate(
    ({ to, type, text }) => {
      const form = document.createElement('form');
      Object.assign(form, { method: 'post', action: to, enctype: type });
      const field = document.createElement('input');
      // With the encoding text/plain, the name and the value together form a JSON object.
      const [name = '', value = ''] = text.split('=');
      Object.assign(field, { name, value });
      form.append(field);
      document.body.append(form);
      form.submit();
    },
    { to: action, type: enctype, text: body },
  );
}

/** Sends a request without a preflight. The page cannot read the response. */
async function fetchAcrossOrigins(page: Page, url: string, body: string): Promise<void> {
  await page.evaluate(
    async ({ to, text }) => {
      await fetch(to, { method: 'POST', mode: 'no-cors', credentials: 'include', body: text });
    },
    { to: url, text: body },
  );
}
