import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { abortStalled } from './abort-stalled.ts';

const portSchema = z.int();
const addressSchema = z.object({ port: portSchema });
const times = { pingEveryMs: 50, pingTimeoutMs: 200 };

/**
 * The server runs in its own thread, so that it responds while the test thread is blocked. It answers pings but not
 * statements.
 */
const answering = `
  const { createServer } = require('node:http');
  const { parentPort } = require('node:worker_threads');
  const server = createServer((request, response) => { if (request.url === '/ping') response.end('Ok.\\n'); });
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

describe('a long-running statement', () => {
  let server: Worker;
  let port: number;
  const clients: { close(): Promise<void> }[] = [];
  beforeAll(async () => {
    server = new Worker(answering, { eval: true });
    port = portSchema.parse((await once(server, 'message'))[0]);
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.close();
  });
  afterAll(() => server.terminate());

  const shardAt = (at: number, given: typeof times): ReturnType<typeof abortStalled> => {
    const client = () => createClient({ url: `http://127.0.0.1:${at}`, log: { level: ClickHouseLogLevel.OFF } });
    const shard = abortStalled(client(), client(), given);
    clients.push(shard);
    return shard;
  };
  const untilEnded = (at: number, signal: AbortSignal, given = times): Promise<string> =>
    shardAt(at, given)
      .command({ query: 'SELECT 1', abort_signal: signal })
      .then(
        () => 'answered',
        (error: unknown) => String(error),
      );

  it('continues a long-running statement while the server answers pings', async () => {
    const patient = { ...times, pingTimeoutMs: 10_000 };
    expect(await untilEnded(port, AbortSignal.timeout(1_000), patient)).toContain('aborted');
  });

  it('continues a long-running statement while this process is starved of CPU time', async () => {
    const ended = untilEnded(port, AbortSignal.timeout(3_500));
    const until = Date.now() + 3_000;
    while (Date.now() < until) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 250);
      await pause(0);
    }
    expect(await ended).not.toContain('does not respond');
  });

  it('aborts a long-running statement when the server stops answering pings', async () => {
    const silent = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const ended = await untilEnded(addressSchema.parse(silent.address()).port, AbortSignal.timeout(5_000));
    silent.closeAllConnections();
    silent.close();
    expect(ended).toBe('Error: ClickHouse does not respond');
  });
});
