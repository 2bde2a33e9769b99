import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import { Socket } from 'node:net';
import { type Network, parseNetwork } from '../../src/domain/network-address.ts';

/** The loopback network, which is allowed only in tests and development. */
export const loopback: readonly Network[] = [parseNetwork('127.0.0.1/32')].filter((network) => network !== null);

/** Records every address that a socket in this process connects to, as it is passed to the system call. */
export function watchConnections(): { readonly attempts: string[]; readonly stop: () => void } {
  const attempts: string[] = [];
  const watch = (message: unknown): void => {
    if (typeof message !== 'object' || message === null || !('socket' in message)) return;
    if (!(message.socket instanceof Socket)) return;
    message.socket.on('connectionAttempt', (address: string) => attempts.push(address));
  };
  subscribe('net.client.socket', watch);
  return { attempts, stop: () => void unsubscribe('net.client.socket', watch) };
}

export type Asked = { readonly method: string; readonly path: string; readonly query: URLSearchParams };
export type Storage = { readonly port: number; readonly asked: Asked[]; readonly close: () => void };

/** Starts a storage server on loopback that records all requests and responds with the given handler. */
export async function startStorage(
  answer: (asked: Asked, request: IncomingMessage, response: ServerResponse) => void,
): Promise<Storage> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const target = request.url ?? '';
    const end = target.includes('?') ? target.indexOf('?') : target.length;
    const one = {
      method: request.method ?? '',
      path: decodeURIComponent(target.slice(0, end)),
      // S3 interprets a plus sign literally.
      query: new URLSearchParams(target.slice(end + 1).replaceAll('+', '%2B')),
    };
    asked.push(one);
    response.setHeader('connection', 'close');
    answer(one, request, response);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return { port: address.port, asked, close: () => void server.close() };
}

/** An S3 list response. */
export function listing(...keys: readonly string[]): string {
  const contents = keys.map((key) => `<Contents><Key>${key}</Key><ETag>"x"</ETag><Size>1</Size></Contents>`);
  return `<?xml version="1.0"?><ListBucketResult>${contents.join('')}<IsTruncated>false</IsTruncated></ListBucketResult>`;
}
