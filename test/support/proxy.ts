import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

// A proxy between a process and a server that simulates network faults.

export type Trouble =
  | { readonly is: 'none' }
  /** Breaks open connections and refuses new ones. */
  | { readonly is: 'cut' }
  /** Keeps connections open, but forwards no bytes in either direction. */
  | { readonly is: 'stalled' }
  | { readonly is: 'slow'; readonly bytesPerSecond: number }
  /** Corrupts one byte in every `everyBytes` that the server sends. */
  | { readonly is: 'corrupt'; readonly everyBytes: number }
  /** Truncates the server's responses after this many bytes. */
  | { readonly is: 'truncated'; readonly afterBytes: number }
  /** Returns this response to every request. */
  | { readonly is: 'answered'; readonly with: string };

export type Proxy = {
  /** The address at which the proxy exposes the server. */
  readonly address: string;
  readonly make: (trouble: Trouble) => void;
  readonly close: () => Promise<void>;
};

export const slowDown = {
  is: 'answered',
  with: [
    'HTTP/1.1 503 Slow Down',
    'Content-Type: application/xml',
    'Connection: close',
    '',
    '<?xml version="1.0"?><Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>',
  ].join('\r\n'),
} as const satisfies Trouble;

export async function startProxy(target: string): Promise<Proxy> {
  const url = new URL(target);
  const { hostname, port } = url;
  const open = new Set<Socket>();
  let trouble: Trouble = { is: 'none' };
  /** Resolves when the fault changes. */
  let changed = Promise.withResolvers<void>();

  const waitUntilFlowing = async (): Promise<void> => {
    while (trouble.is === 'stalled') await changed.promise;
  };

  const carry = async (from: Socket, to: Socket, isAnswer: boolean): Promise<void> => {
    let carried = 0;
    for await (const piece of from as AsyncIterable<Buffer>) {
      await waitUntilFlowing();
      if (trouble.is === 'slow') await pause((piece.length / trouble.bytesPerSecond) * 1000);
      if (trouble.is === 'answered' && !isAnswer) {
        from.end(trouble.with);
        return;
      }
      const bytes = isAnswer ? changedBytes(piece, carried, trouble) : piece;
      carried += piece.length;
      if (!to.write(bytes)) await once(to, 'drain');
      if (isAnswer && trouble.is === 'truncated' && carried >= trouble.afterBytes) to.destroy();
    }
    to.end();
  };

  const server = createServer((client) => {
    if (trouble.is === 'cut') {
      client.resetAndDestroy();
      return;
    }
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => {
        open.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    for (const direction of [carry(client, upstream, false), carry(upstream, client, true)]) {
      direction.catch(() => client.destroy());
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
  const close = (): void => {
    for (const socket of open) socket.resetAndDestroy();
  };
  url.host = `127.0.0.1:${address.port}`;
  return {
    address: url.href.replace(/\/$/, ''),
    make: (next) => {
      trouble = next;
      changed.resolve();
      changed = Promise.withResolvers();
      if (next.is === 'cut') close();
    },
    close: async () => {
      trouble = { is: 'none' }; // Otherwise, callers that wait for traffic to resume would wait forever.
      server.close();
      close();
      changed.resolve();
      await once(server, 'close');
    },
  };
}

function changedBytes(piece: Buffer, carried: number, trouble: Trouble): Buffer {
  if (trouble.is === 'truncated') return piece.subarray(0, Math.max(0, trouble.afterBytes - carried));
  if (trouble.is !== 'corrupt') return piece;
  const bytes = Buffer.from(piece);
  const first = trouble.everyBytes - (carried % trouble.everyBytes) - 1;
  for (let at = first; at < bytes.length; at += trouble.everyBytes) bytes[at] = (bytes[at] ?? 0) ^ 0x55;
  return bytes;
}
