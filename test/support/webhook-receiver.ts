import { createServer } from 'node:http';

export type ReceivedEvent = {
  readonly at: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The status of the response, or null if there was none. */
  readonly status: number | null;
};

export type Reply =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>> }
  /** Never responds. */
  | 'hang'
  /** Closes the connection. */
  | 'cut';

export type WebhookReceiver = {
  readonly url: string;
  readonly received: ReceivedEvent[];
  /** Chooses the reply to each request. */
  reply: (path: string) => Reply;
  readonly close: () => Promise<void>;
};

/** The only private address that is allowed, so that a test can use `localhost` as a name that is not. */
const receiverHost = '127.0.0.2';

/** An HTTP server that records what it receives. */
export async function startReceiver(port = 0): Promise<WebhookReceiver> {
  const received: ReceivedEvent[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', () => undefined);
    request.on('end', () => {
      const path = request.url ?? '';
      const reply = receiver.reply(path);
      const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
      const status = typeof reply === 'string' ? null : reply.status;
      received.push({ at: performance.now(), path, headers, body: Buffer.concat(chunks).toString(), status });
      if (reply === 'hang') return;
      if (reply === 'cut') {
        request.socket.destroy();
        return;
      }
      response.writeHead(reply.status, reply.headers).end('ok');
    });
  });
  await new Promise<void>((resolve) => server.listen(port, receiverHost, resolve));
  const address = server.address();
  const own = typeof address === 'object' && address !== null ? address.port : port;
  const receiver: WebhookReceiver = {
    url: `http://${receiverHost}:${own}`,
    received,
    reply: () => ({ status: 204 }),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}

/** Settings with which a worker can send events to a receiver of a test. */
export const receiverSettings = {
  INLET_WEBHOOK_HTTP: 'true',
  INLET_WEBHOOK_NETWORKS: `${receiverHost}/32`,
} as const;
