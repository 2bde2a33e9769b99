import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { createInterface } from 'node:readline';
import { z } from 'zod';

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

/** The only private address that is allowed, so that a test can use `localhost` as a name that is not allowed. */
const receiverHost = '127.0.0.2';

/** An HTTP server that records what it receives. */
export async function startReceiver(
  port = 0,
  onReceived: (event: ReceivedEvent) => void = () => undefined,
): Promise<WebhookReceiver> {
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
      const event = { at: performance.now(), path, headers, body: Buffer.concat(chunks).toString(), status };
      received.push(event);
      onReceived(event);
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

const receivedSchema = z.object({
  path: z.string(),
  headers: z.record(z.string(), z.string()),
  body: z.string(),
  status: z.int().nullable(),
});

/** A receiver in its own process, which keeps its address when it is killed and restarted. */
export async function startReceiverProcess(): Promise<WebhookReceiver & { readonly restart: () => Promise<void> }> {
  const received: ReceivedEvent[] = [];
  const start = async (port: string): Promise<{ readonly child: ChildProcess; readonly url: string }> => {
    const file = fileURLToPath(new URL('webhook-receiver-process.ts', import.meta.url));
    const child = spawn(process.execPath, [file, port], { stdio: ['ignore', 'pipe', 'inherit'] });
    const ready = Promise.withResolvers<string>();
    child.once('exit', () => ready.reject(new Error('the receiver has exited')));
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line.startsWith('http')) ready.resolve(line);
      // The receiver's clock started with its process.
      else received.push({ ...receivedSchema.parse(JSON.parse(line)), at: performance.now() });
    });
    return { child, url: await ready.promise };
  };
  const kill = async (child: ChildProcess): Promise<void> => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  };
  const state = await start('0');
  let { child } = state;
  return {
    url: state.url,
    received,
    reply: () => ({ status: 204 }),
    restart: async () => {
      await kill(child);
      ({ child } = await start(new URL(state.url).port));
    },
    close: () => kill(child),
  };
}

/** Settings that allow a worker to send events to a test's receiver. */
export const receiverSettings = {
  INLET_WEBHOOK_HTTP: 'true',
  INLET_WEBHOOK_NETWORKS: `${receiverHost}/32`,
} as const;
