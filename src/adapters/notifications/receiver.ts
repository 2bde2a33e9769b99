import { createHash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { Secret } from '../../domain/secret.ts';
import type { Log } from '../../ports/observability.ts';
import type { ObjectNotifications } from '../../ports/subscription-store.ts';
import { keysInNotification } from './keys-in-notification.ts';

export const notificationsPath = '/notifications/';

/** A notification from Ceph is about 2 KB long, and an event from Amazon EventBridge is about 1 KB long. */
const maxBodyBytes = 256 * 1024;
const maxConnections = 100;
/**
 * Maximum number of keys that wait to be passed on. Further keys are dropped, and the next regular listing finds their
 * objects.
 */
const maxKeys = 10_000;
const passEveryMs = 100;

export const notificationOutcomes = ['accepted', 'dropped', 'rejected'] as const;
export type NotificationOutcome = (typeof notificationOutcomes)[number];

type Settings = {
  readonly host: string;
  readonly port: number;
  readonly bucket: string;
  /** The last segment of the path must be one of these. */
  readonly tokens: readonly Secret[];
  /** Returns the keys to pass on again. */
  readonly onKeys: (keys: readonly string[]) => Promise<readonly string[]>;
  readonly record: (outcome: NotificationOutcome) => void;
  readonly log: Log;
};

/**
 * Receives notifications of new objects over HTTP, in the formats of S3 and Amazon EventBridge. Responds before it
 * passes on the keys, so that the storage never waits for PostgreSQL.
 */
export async function receiveNotifications(settings: Settings): Promise<ObjectNotifications> {
  const { host, port, onKeys, record, log } = settings;
  const isAllowed = tokenCheck(settings.tokens);
  const waiting = new Set<string>();
  let passing = Promise.resolve();
  const add = (keys: readonly string[]): boolean => {
    const free = maxKeys - waiting.size;
    for (const key of keys.slice(0, free)) waiting.add(key);
    return keys.length <= free;
  };
  const pass = async (): Promise<void> => {
    if (waiting.size === 0) return;
    const keys = [...waiting];
    waiting.clear();
    try {
      add(await onKeys(keys));
    } catch (error) {
      log.warn({ err: error }, 'cannot pass notifications on');
    }
  };
  const timer = setInterval(() => {
    passing = passing.then(pass);
  }, passEveryMs);
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await readBody(request).catch(() => null);
    if (body === null) {
      record('rejected');
      response.writeHead(413, { connection: 'close' }).end();
      return;
    }
    const keys = keysInNotification(body, settings.bucket);
    if (keys) record(add(keys) ? 'accepted' : 'dropped');
    else record('rejected');
    // The storage repeats a notification until the status is 2xx.
    response.writeHead(204).end();
  };
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 10_000, maxHeaderSize: 8_192 });
  server.maxConnections = maxConnections;
  server.on('request', (request, response) => {
    if (request.method !== 'POST' || !isAllowed(request.url ?? '')) {
      record('rejected');
      response.writeHead(404, { connection: 'close' }).end();
      return;
    }
    void answer(request, response);
  });
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address();
  const served = typeof address === 'object' && address ? address.port : 0;
  log.info({ host, port: served }, 'receiving notifications of new objects');
  return {
    port: served,
    close: async () => {
      clearInterval(timer);
      server.close();
      server.closeAllConnections();
      await passing;
    },
  };
}

/** Compares hashes, which have the same length. */
function tokenCheck(tokens: readonly Secret[]): (path: string) => boolean {
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest();
  const allowed = tokens.map((token) => hash(notificationsPath + token.reveal()));
  return (path) => {
    const given = hash(path);
    return allowed.filter((one) => timingSafeEqual(one, given)).length > 0;
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBodyBytes) throw new Error('the notification is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
