import { connect } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { audienceClient } from '../acceptance/audience-client.ts';
import { memoryOfProcess } from '../support/memory.ts';
import { type TestPartner, createPartner } from '../support/partners.ts';
import { type ServiceProcess, startApi, stopProcess } from '../support/running-service.ts';
import { type TestStores, createStores, withDatabase } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';

// One key sends many requests and reads no response.

const mebibyte = 2 ** 20;

let stores: TestStores;
let partner: TestPartner;
let other: TestPartner;
let api: ServiceProcess & { readonly url: string };
let audienceId: number;

beforeAll(async () => {
  stores = await createStores('one');
  [partner, other] = [await createPartner(stores.environment), await createPartner(stores.environment)];
  api = await startApi({ ...stores.environment, INLET_REQUESTS_PER_KEY: '100000' }, 'unread');
  ({ audienceId } = await audienceClient(api.url, partner.apiKey).create('Large', 'day/'));
  await withDatabase(stores, async (client) => {
    await client.query('UPDATE job SET status = 1, listed_at = now()');
    await client.query(
      `INSERT INTO job_file (job_id, partner_id, key, path, etag, size, status, batch_id, audience_id, generation)
       SELECT id, partner_id, lpad(n::text, 200, 'x'), 'x', md5(n::text), 1, 2, n, $1, 0 FROM job, generate_series(1, 1000) n`,
      [audienceId],
    );
  });
});
afterAll(async () => {
  await stopProcess(api.child);
  await stores.drop();
});

it('uses little memory for unread responses and still answers other partners', async () => {
  const { port } = new URL(api.url);
  const request = `GET /v2/firstparty/audience/${audienceId} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${partner.apiKey}\r\n\r\n`;
  const before = memoryOfProcess(api.child.pid ?? 0).now;
  // Few sockets, because the kernel buffers several MiB per socket before the limit counts anything. Few requests,
  // because the check below is answered only after most of them, and each takes about 10 ms.
  const sockets = Array.from({ length: 4 }, () => {
    const socket = connect(Number(port), '127.0.0.1');
    socket.on('error', () => undefined);
    socket.pause().write(request.repeat(150));
    return socket;
  });
  const read = (key: string): Promise<number> =>
    fetch(`${api.url}/v2/firstparty/audience/${audienceId}`, { headers: { authorization: `Bearer ${key}` } }).then(
      (answer) => answer.status,
    );
  await waitUntil('the partner is refused', async () => (await read(partner.apiKey)) === 429);
  expect(await read(other.apiKey)).toBe(404);
  expect(memoryOfProcess(api.child.pid ?? 0).now - before).toBeLessThan(400 * mebibyte);
  for (const socket of sockets) socket.destroy();
  await waitUntil('the partner is answered again', async () => (await read(partner.apiKey)) === 200);
});
