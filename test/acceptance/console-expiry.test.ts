import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { signInWithKey } from '../support/console-sign-in.ts';
import { type ServiceProcess, startApi, stopProcess } from '../support/running-service.ts';
import { type TestStores, createStores, withDatabase } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';
import { type BarePartner, type Wired, newBarePartner, wireUp } from '../support/wired.ts';
import { audienceClient, audiencePath } from './audience-client.ts';

describe('the end of a console session', () => {
  const idleSeconds = 4;
  const sessionSeconds = 10;
  const background = { headers: { 'x-inlet-background': '1' } };
  let stores: TestStores;
  let deps: Wired;
  let api: ServiceProcess & { readonly url: string };
  let partner: BarePartner;

  beforeAll(async () => {
    stores = await createStores('one');
    deps = await wireUp(stores);
    const settings = {
      INLET_CONSOLE_IDLE_SECONDS: String(idleSeconds),
      INLET_CONSOLE_SESSION_SECONDS: String(sessionSeconds),
    };
    api = await startApi({ ...stores.environment, ...settings }, 'console-expiry');
    partner = await newBarePartner(deps);
  });
  afterAll(async () => {
    await stopProcess(api.child);
    await deps.close();
    await stores.drop();
  });

  it('an idle session ends, and a session that is in use does not', async () => {
    const [idle, used] = [await signInWithKey(api.url, partner.apiKey), await signInWithKey(api.url, partner.apiKey)];
    const since = performance.now();
    while (performance.now() - since < (idleSeconds + 1) * 1000) {
      expect((await used.request(audiencePath)).status).toBe(200);
      await pause(500);
    }
    expect((await idle.request(audiencePath)).status).toBe(401);
    expect((await used.session()).signed_in).toBe(true);
  });

  it('a session that has ended does not throttle other users at its address', async () => {
    const most = 5;
    const limited = await startApi(
      { ...stores.environment, INLET_WRONG_KEYS_PER_ADDRESS: String(most), INLET_CONSOLE_IDLE_SECONDS: '2' },
      'console-ended',
    );
    try {
      const idle = await signInWithKey(limited.url, partner.apiKey);
      expect((await idle.request(audiencePath)).status).toBe(200);
      await waitUntil('the session ends', async () => (await idle.request(audiencePath, background)).status === 401);
      for (let n = 0; n < most * 2; n += 1) expect((await idle.request(audiencePath)).status).toBe(401);
      const other = await newBarePartner(deps);
      expect((await (await signInWithKey(limited.url, other.apiKey)).request(audiencePath)).status).toBe(200);
    } finally {
      await stopProcess(limited.child);
    }
  });

  it('a session is extended when its user stays signed in, and reports when it will end', async () => {
    const browser = await signInWithKey(api.url, partner.apiKey);
    const since = performance.now();
    let last = Date.parse(browser.signedIn.idle_expires_at);
    while (performance.now() - since < (idleSeconds + 1) * 1000) {
      await pause(1_000);
      expect(await browser.session()).toMatchObject({ idle_expires_at: new Date(last).toISOString() });
      const stayed = await browser.request('/console/auth/session', { method: 'POST', body: '{}' });
      const { idle_expires_at: next } = z.object({ idle_expires_at: z.iso.datetime() }).parse(await stayed.json());
      expect(Date.parse(next)).toBeGreaterThan(last);
      last = Date.parse(next);
    }
    const withoutToken = await browser.request('/console/auth/session', {
      method: 'POST',
      body: '{}',
      headers: { 'x-csrf-token': 'wrong' },
    });
    expect(withoutToken.status).toBe(403);
  });

  it('a session ends even though its page refreshes itself and follows a record', async () => {
    const { audienceId } = await audienceClient(api.url, partner.apiKey).create('Followed', 'a.csv');
    const [polling, following] = [
      await signInWithKey(api.url, partner.apiKey),
      await signInWithKey(api.url, partner.apiKey),
    ];
    const abort = new AbortController();
    const since = performance.now();
    const last = { polling: 200, following: 200 };
    while (performance.now() - since < (idleSeconds + 2) * 1000) {
      const headers = { 'x-inlet-background': '1' };
      last.polling = (await polling.request(audiencePath, { headers })).status;
      const stream = await following.request(`${audiencePath}/${audienceId}/events`, {
        headers: { accept: 'text/event-stream' },
        signal: abort.signal,
      });
      last.following = stream.status;
      await pause(500);
    }
    abort.abort();
    expect(last).toEqual({ polling: 401, following: 401 });
  });

  it('a session that is in use ends after the maximum duration', async () => {
    const since = performance.now();
    const browser = await signInWithKey(api.url, partner.apiKey);
    const expiresIn = Date.parse(browser.signedIn.expires_at) - Date.now();
    expect(expiresIn).toBeLessThanOrEqual(sessionSeconds * 1000);
    let last = 200;
    let lastAccepted = 0;
    while (last === 200 && performance.now() - since < (sessionSeconds + 5) * 1000) {
      last = (await browser.request(audiencePath)).status;
      if (last === 200) lastAccepted = performance.now() - since;
      await pause(300);
    }
    expect(last).toBe(401);
    expect(lastAccepted).toBeGreaterThan(idleSeconds * 1000);
  });

  it('workers delete sessions that have ended, and only these', async () => {
    const browser = await signInWithKey(api.url, partner.apiKey);
    await deps.retentionStore.removeExpiredSessions(10_000);
    expect((await browser.session()).signed_in).toBe(true);
    const count = await withDatabase(stores, (db) => db.query('SELECT FROM console_session'));
    expect(count.rowCount).toBe(1);
  });
});
