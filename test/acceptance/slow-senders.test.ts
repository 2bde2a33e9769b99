import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memoryOfProcess } from '../support/memory.ts';
import { createPartner, type TestPartner } from '../support/partners.ts';
import { sendSlowly, type SlowAnswer } from '../support/raw-request.ts';
import { startApi, stopProcess } from '../support/running-service.ts';
import { createStores, type TestStores } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';

// The timeouts are one second for headers and two seconds for a request. Node checks them twice a second. A busy
// machine can take longer.
const settings = { INLET_HEADERS_SECONDS: '1', INLET_REQUEST_SECONDS: '2', INLET_KEEP_ALIVE_SECONDS: '1' };
const late = 15;
const imports = '/v1/marketplace/import';

describe('slow senders', () => {
  let stores: TestStores;
  let partner: TestPartner;
  let api: Awaited<ReturnType<typeof startApi>>;

  beforeAll(async () => {
    stores = await createStores('one');
    partner = await createPartner(stores.environment);
    api = await startApi({ ...stores.environment, ...settings }, 'slow-senders');
  });
  afterAll(async () => {
    await stopProcess(api.child);
    await stores.drop();
  });

  const post = (): string =>
    `POST ${imports} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${partner.apiKey}\r\ncontent-type: application/json\r\ncontent-length: 1000000\r\n\r\n{`;

  const outcomeOf = ({ text, seconds }: SlowAnswer, least: number) => ({
    isTimeout: text.startsWith('HTTP/1.1 408 Request Timeout\r\n') && text.includes('"code":"request_timeout"'),
    isEarly: seconds < least,
    isLate: seconds > late,
  });
  const timedOut = { isTimeout: true, isEarly: false, isLate: false };

  it('a client is disconnected if it sends headers slowly', async () => {
    const answer = await sendSlowly(api.url, 'GET / HTTP/1.1\r\nhost: x\r\nx-slow: ');
    expect(outcomeOf(answer, 1)).toEqual(timedOut);
  });

  it('a client is disconnected if it sends nothing', async () => {
    expect(outcomeOf(await sendSlowly(api.url, ''), 1)).toEqual(timedOut);
  });

  it('a client is disconnected if it sends a body slowly', async () => {
    expect(outcomeOf(await sendSlowly(api.url, post()), 2)).toEqual(timedOut);
  });

  it('a client gets an immediate 401 for a slow body with a wrong key and is disconnected', async () => {
    const { text, seconds } = await sendSlowly(api.url, post().replace(partner.apiKey, 'wrong'));
    expect(text).toMatch(/^HTTP\/1\.1 401 Unauthorized\r\n/);
    expect(seconds).toBeLessThan(late);
  });

  it('a client is disconnected if it sends no further request on an open connection', async () => {
    const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
    const start = performance.now();
    socket.write('GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n');
    socket.resume();
    await once(socket, 'close');
    expect((performance.now() - start) / 1000).toBeLessThan(late);
  });

  it('slow senders do not delay other clients', async () => {
    const slow = [
      ...Array.from({ length: 100 }, () => sendSlowly(api.url, 'GET / HTTP/1.1\r\nhost: x\r\nx-slow: ')),
      ...Array.from({ length: 100 }, () => sendSlowly(api.url, post())),
    ];
    let gone = 0;
    for (const one of slow) void one.then(() => (gone += 1));
    const start = performance.now();
    const headers = { authorization: `Bearer ${partner.apiKey}` };
    expect((await fetch(api.url + imports, { headers })).status).toBe(200);
    // The response arrived while the slow senders were still connected.
    expect(gone).toBeLessThan(200);
    for (let number = 0; number < 4; number++) expect((await fetch(api.url + imports, { headers })).status).toBe(200);
    const seconds = (performance.now() - start) / 1000;
    for (const answer of await Promise.all(slow)) expect(outcomeOf(answer, 1)).toEqual(timedOut);
    expect(seconds).toBeLessThan(late);
  });
});

describe('a client that reads no responses', () => {
  it('a client that reads no responses does not exhaust memory', async () => {
    const stores = await createStores('one');
    const api = await startApi(stores.environment, 'unread');
    const pid = api.child.pid ?? 0;
    const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
    try {
      // Reads the whole file once, so that it is cached.
      expect((await (await fetch(`${api.url}/docs/swagger-ui-bundle.js`)).bytes()).length).toBeGreaterThan(1_000_000);
      const before = memoryOfProcess(pid).now;
      const request = 'GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nhost:a\r\n\r\n';
      socket.pause().write(request.repeat(1_000));
      await waitUntil('the first bytes have arrived', () => Promise.resolve(socket.readableLength > 0));
      for (let number = 0; number < 20; number++) expect((await fetch(`${api.url}/health/live`)).status).toBe(200);
      const grown = (memoryOfProcess(pid).most - before) / 1024 ** 2;
      process.stdout.write(`1,000 unread responses: ${Math.round(grown)} MiB\n`);
      expect(grown).toBeLessThan(200);
    } finally {
      socket.destroy();
      await stopProcess(api.child);
      await stores.drop();
    }
  });
});

describe('an API at its connection limit', () => {
  it('an API at its connection limit closes excess connections and accepts new ones after others close', async () => {
    const stores = await createStores('one');
    const most = 10;
    const api = await startApi({ ...stores.environment, INLET_MAX_CONNECTIONS: String(most) }, 'connections');
    const port = Number(new URL(api.url).port);
    const sockets: Socket[] = [];
    try {
      let closed = 0;
      for (let number = 0; number < most * 3; number++) {
        const socket = connect(port, '127.0.0.1');
        socket.on('error', () => undefined);
        socket.on('close', () => (closed += 1));
        sockets.push(socket);
      }
      await waitUntil('the connections over the limit are closed', () => Promise.resolve(closed >= most * 2));
      expect(closed).toBeLessThanOrEqual(most * 2 + 1);
      for (const socket of sockets) socket.destroy();
      await waitUntil('the API responds again', async () => (await fetch(`${api.url}/health/live`)).ok);
    } finally {
      for (const socket of sockets) socket.destroy();
      await stopProcess(api.child);
      await stores.drop();
    }
  });
});
