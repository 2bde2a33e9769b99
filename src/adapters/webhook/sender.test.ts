import { type RequestListener, createServer } from 'node:http';
import { Webhook as StockVerifier } from 'standardwebhooks';
import { afterEach, describe, expect, it } from 'vitest';
import type { LoggedEvent } from '../../domain/event.ts';
import { parseNetwork } from '../../domain/network-address.ts';
import { Secret } from '../../domain/secret.ts';
import type { Resolve } from '../guarded-agents.ts';
import { httpWebhookSender } from './sender.ts';

const event: LoggedEvent = {
  id: 'evt_1',
  sequence: 7,
  type: 'audience.cleared',
  data: { audienceId: 1, warehouseSegmentId: 500_001 },
  customer: 'Müller',
  createdAt: new Date('2026-11-18T12:00:00.000Z'),
};
const delivery = { event, reason: 'first', isReplay: false, tries: 0 } as const;
const secrets = [1, 2].map((n) => new Secret(`whsec_${Buffer.alloc(32, n).toString('base64')}`));
const loopback = parseNetwork('127.0.0.0/8');
const inside = { allowsHttp: true, networks: loopback ? [loopback] : [] };

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function listen(handler: RequestListener): Promise<number> {
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

function send(url: string, options: { addresses?: typeof inside; timeoutMs?: number; resolve?: Resolve } = {}) {
  const { addresses = inside, timeoutMs = 1_000, resolve } = options;
  const sender = httpWebhookSender(addresses, timeoutMs, resolve);
  closing.push(sender.close);
  return sender.send({ webhookId: 1, partnerId: 1, url, secrets }, delivery);
}

const resolvingTo =
  (...addresses: string[]): Resolve =>
  (_hostname, _options, callback) =>
    callback(
      null,
      addresses.map((address) => ({ address, family: 4 })),
    );

describe('the webhook sender', () => {
  it('signs an event with each secret, and keeps the host name in the Host header', async () => {
    const got: { body: string; headers: Record<string, string> }[] = [];
    const port = await listen((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const headers = Object.fromEntries(
          Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
        );
        got.push({ body: Buffer.concat(chunks).toString(), headers });
        response.writeHead(204).end();
      });
    });
    const result = await send(`http://hooks.example.com:${port}/a`, { resolve: resolvingTo('127.0.0.1') });
    expect(result).toMatchObject({ status: 204, error: null, retryAfterSeconds: null });
    const [{ body, headers } = { body: '', headers: {} }] = got;
    expect(headers['host']).toBe(`hooks.example.com:${port}`);
    expect(headers['webhook-id']).toBe('evt_1');
    for (const secret of secrets) new StockVerifier(secret.reveal()).verify(body, headers);
    expect(JSON.parse(body)).toMatchObject({ sequence: 7, customer: 'Müller', link: '/v2/firstparty/audience/1' });
  });

  it.each([
    ['a private address', ['10.0.0.1']],
    ['a metadata address', ['169.254.169.254']],
    ['a public and a private address', ['93.184.216.34', '10.0.0.1']],
  ])('does not connect to a name that resolves to %s', async (_what, addresses) => {
    const result = await send('https://hooks.example.com/', { resolve: resolvingTo(...addresses) });
    expect(result).toMatchObject({ status: null, error: 'address_refused' });
  });

  it('does not use plain HTTP if the setting was changed after the webhook was created', async () => {
    const port = await listen((_request, response) => response.writeHead(204).end());
    const addresses = { ...inside, allowsHttp: false };
    expect(await send(`http://127.0.0.1:${port}/`, { addresses })).toMatchObject({ error: 'address_refused' });
  });

  it('returns a redirect instead of following it', async () => {
    const paths: string[] = [];
    const port = await listen((request, response) => {
      paths.push(request.url ?? '');
      response.writeHead(302, { location: '/elsewhere' }).end();
    });
    expect(await send(`http://127.0.0.1:${port}/here`)).toMatchObject({ status: 302 });
    expect(paths).toEqual(['/here']);
  });

  it('gives up on a receiver that does not respond in time', async () => {
    const port = await listen(() => undefined);
    const result = await send(`http://127.0.0.1:${port}/`, { timeoutMs: 50 });
    expect(result).toMatchObject({ status: null, error: 'timeout' });
  });

  it('determines the result from the status if the body never ends', async () => {
    const port = await listen((_request, response) => response.writeHead(200).write('x'));
    expect(await send(`http://127.0.0.1:${port}/`, { timeoutMs: 50 })).toMatchObject({ status: 200, error: null });
  });

  it('reads only the beginning of a large response', async () => {
    let written = 0;
    const port = await listen((_request, response) => {
      response.writeHead(200);
      const chunk = Buffer.alloc(64 * 1024);
      const writeOn = (): void => {
        while (!response.destroyed && written < 1e9) {
          written += chunk.length;
          if (!response.write(chunk)) return void response.once('drain', writeOn);
        }
      };
      writeOn();
    });
    expect(await send(`http://127.0.0.1:${port}/`)).toMatchObject({ status: 200 });
    expect(written).toBeLessThan(100e6);
  });

  it('reports Retry-After and a closed connection', async () => {
    const port = await listen((_request, response) => response.writeHead(429, { 'retry-after': '7' }).end());
    expect(await send(`http://127.0.0.1:${port}/`)).toMatchObject({ status: 429, retryAfterSeconds: 7 });
    const cut = await listen((request) => request.socket.destroy());
    expect(await send(`http://127.0.0.1:${cut}/`)).toMatchObject({ status: null, error: 'connection_failed' });
  });
});
