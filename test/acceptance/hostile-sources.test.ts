import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hostile } from '../hostile/sources.ts';
import { device } from '../support/device-id.ts';
import { logDirectory } from '../support/log-directory.ts';
import { startMarketplace, type Marketplace } from '../support/start-marketplace.ts';
import { waitUntil } from '../support/wait-until.ts';

// The endpoint of partner-owned buckets resolves to loopback, and no private network is allowed. This simulates an
// attacker who has redirected the storage's host name in production.

describe('hostile sources', () => {
  let market: Marketplace;
  let trap: Server;
  let connections = 0;

  beforeAll(async () => {
    trap = createServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => {
      trap.listen(0, '127.0.0.1', resolve);
    });
    const address = trap.address();
    if (address === null || typeof address === 'string') throw new Error('the trap has no port');
    market = await startMarketplace('hostile-sources', {
      INLET_PARTNER_S3_ENDPOINT: `http://localhost:${address.port}`,
      INLET_PARTNER_S3_NETWORKS: '',
    });
    await market.partner.createAttribute('sport', 'sport');
  });
  afterAll(async () => {
    await market.stop();
    trap.close();
  });

  const credentials = { accessKeyId: 'KEY', secretAccessKey: 'not-a-secret', region: 'us-east-1' };
  const own = { file_path: 's3://own-bucket/in/a.csv', path_type: 1, key_type: 1, compressed: false, credentials };

  it('hostile sources are rejected immediately with a specific code', async () => {
    const requests = [
      ...hostile('source', 'rejected').map(({ value }) => ({ ...own, file_path: value })),
      ...hostile('bucket', 'rejected').map(({ value }) => ({ ...own, file_path: `s3://${value}/in/a.csv` })),
      // The root of a partner's own bucket is a valid path.
      ...hostile('path', 'rejected')
        .filter(({ value }) => value !== '')
        .map(({ value }) => ({ ...own, file_path: `s3://own-bucket/${value}` })),
      ...hostile('path', 'rejected').map(({ value }) => ({ file_path: value, key_type: 1, compressed: false })),
    ];
    for (const body of requests) {
      expect(await market.api.expectProblem(body), body.file_path).toMatchObject({
        status: 400,
        code: 'invalid_file_path',
      });
    }
    for (const { value } of hostile('region', 'rejected')) {
      const body = { ...own, credentials: { ...credentials, region: value } };
      expect(await market.api.expectProblem(body), value).toMatchObject({ status: 400, code: 'invalid_region' });
    }
    expect(await market.api.list()).toEqual([]);
  });

  it('hostile sources are interpreted literally if they only resemble an attack', async () => {
    // Tests only some of these sources, because each job takes time. test/hostile checks the storage requests of all
    // sources.
    const paths = hostile('path', 'accepted').flatMap(({ value }, index) => (index % 7 === 0 ? [value] : []));
    for (const [index, path] of paths.entries()) {
      await market.partner.upload(path.endsWith('/') ? `${path}a.csv` : path, `${device(index)},sport\n`);
    }
    const ids = [];
    for (const path of paths) {
      ids.push([path, await market.api.queue({ file_path: path, key_type: 1, compressed: false })] as const);
    }
    for (const [path, id] of ids) {
      expect(await market.api.waitForEnd(id), path).toMatchObject({ status: 2, total_rows: '1', file_path: path });
    }
  });

  it('hostile sources never make a worker connect to a non-public address, and the worker logs a warning', async () => {
    const ids = [];
    for (const { value } of hostile('bucket', 'accepted')) {
      ids.push(await market.api.queue({ ...own, file_path: `s3://${value}/in/a.csv` }));
    }
    const logs = (): string =>
      readdirSync(logDirectory)
        .filter((name) => name.startsWith(`hostile-sources-worker-${process.pid}-`))
        .map((name) => readFileSync(join(logDirectory, name), 'utf8'))
        .join('\n');
    await waitUntil('the worker has tried twice', async () =>
      Promise.resolve(logs().split('storage_address_refused').length > 2),
    );
    for (const id of ids) expect((await market.api.get(id)).status).toBeLessThan(2);
    expect(connections).toBe(0);
  });
});
