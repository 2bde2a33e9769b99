import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import { type Socket, connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHttpServer } from './http-limits.ts';

const limits = {
  headersSeconds: 10,
  requestSeconds: 10,
  keepAliveSeconds: 10,
  maxConnections: 10,
  trustedProxies: [],
  maxHeaderBytes: 16_384,
  tls: null,
};

describe('pipelined requests', () => {
  let server: Server;
  let socket: Socket;
  const handled: { readonly url: string | undefined; readonly response: ServerResponse }[] = [];

  beforeEach(async () => {
    handled.length = 0;
    server = createHttpServer(limits, ({ url }, response) => void handled.push({ url, response }));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    socket = connect(address.port, '127.0.0.1');
    await once(socket, 'connect');
  });
  afterEach(() => {
    socket.destroy();
    server.close();
  });

  const pipeline = (...paths: readonly string[]): void => {
    socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`).join(''));
  };
  const untilHandled = async (count: number): Promise<void> => {
    while (handled.length < count) await new Promise((resolve) => setTimeout(resolve, 5));
  };

  it('are handled one after the other, in order', async () => {
    pipeline('/1', '/2', '/3');
    for (const count of [1, 2, 3]) {
      await untilHandled(count);
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(handled.map(({ url }) => url)).toEqual(['/1', '/2', '/3'].slice(0, count));
      handled.at(-1)?.response.end('done');
    }
  });

  it('are not handled after the client disconnects', async () => {
    pipeline('/1', '/2');
    await untilHandled(1);
    socket.destroy();
    await once(handled[0]?.response ?? socket, 'close');
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(handled).toHaveLength(1);
  });

  it('end the connection if too many of them wait', async () => {
    pipeline(...Array.from({ length: 1_001 }, (_, n) => `/${n}`));
    await once(socket.resume(), 'close');
    expect(handled).toHaveLength(1);
  });
});
