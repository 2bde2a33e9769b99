import { setTimeout as pause } from 'node:timers/promises';
import { Webhook as StockVerifier } from 'standardwebhooks';
import { z } from 'zod';
import { appendEvents } from '../../src/adapters/postgres/event-log.ts';
import { type EventContent, eventRecord } from '../../src/domain/event.ts';
import { rememberSecrets } from '../support/known-secrets.ts';
import { type ServiceProcess, startApi, startWorker, stopProcess } from '../support/running-service.ts';
import { type TestStores, createStores, withDatabase } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';
import { type Reply, type WebhookReceiver, receiverSettings, startReceiver } from '../support/webhook-receiver.ts';
import { type BarePartner, type Wired, newBarePartner, wireUp } from '../support/wired.ts';
import { apiClient } from '../acceptance/api-client.ts';

// Sends the same events to receivers that fail in different ways, while processes are killed at random.

export const campaignSettings = {
  ...receiverSettings,
  INLET_WEBHOOK_TIMEOUT_SECONDS: '1',
  // Scales five minutes between two attempts to 0.3 s, and five days to seven minutes.
  INLET_WEBHOOK_TIME_SCALE: '0.001',
} as const;

const createdSchema = z.object({ webhook_id: z.int(), secret: z.string() });
const sequenceSchema = z.object({ sequence: z.int() });
const eventsSchema = z.array(sequenceSchema);
const sequenceOf = (body: string): number => sequenceSchema.parse(JSON.parse(body)).sequence;

/** A random number generator with a fixed seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const ok: Reply = { status: 204 };

/** The behavior of a receiver. The argument is the time since the start, in milliseconds. */
type Behavior = (random: () => number) => (ms: number) => Reply;

export const behaviors = {
  works: () => () => ok,
  'is down half of the time': () => (ms) => (Math.floor(ms / 1000) % 2 === 1 ? 'cut' : ok),
  'answers 500': (random) => () => (random() < 0.3 ? { status: 500 } : ok),
  hangs: (random) => () => (random() < 0.05 ? 'hang' : ok),
  redirects: (random) => () => (random() < 0.2 ? { status: 302, headers: { location: '/elsewhere' } } : ok),
  throttles: (random) => () => (random() < 0.1 ? { status: 429, headers: { 'retry-after': '60' } } : ok),
} as const satisfies Record<string, Behavior>;

type Subscriber = {
  readonly name: string;
  readonly partner: BarePartner;
  readonly webhookId: number;
  readonly secret: string;
  readonly receiver: WebhookReceiver;
};

export type Campaign = Awaited<ReturnType<typeof startCampaign>>;

export async function startCampaign(seed: number, workerCount = 2) {
  const random = seededRandom(seed);
  const stores: TestStores = await createStores('one');
  const environment = { ...stores.environment, ...campaignSettings };
  const deps: Wired = await wireUp(stores);
  const state: { api: ServiceProcess & { readonly url: string }; workers: ServiceProcess[] } = {
    api: await startApi(environment, 'webhook-campaign'),
    workers: await Promise.all(Array.from({ length: workerCount }, () => startWorker(environment, 'webhook-campaign'))),
  };
  /** The time at which each event was committed, by partner and sequence number. */
  const committed = new Map<string, number>();
  const keyOf = (partnerId: number, sequence: number): string => `${partnerId} ${sequence}`;
  /** Returns the number of events that the campaign has committed for a partner. */
  const countCommitted = ({ id }: BarePartner): number =>
    [...committed.keys()].filter((key) => key.startsWith(`${id} `)).length;

  async function subscribe(
    name: string,
    url: (receiver: WebhookReceiver) => string,
    given?: WebhookReceiver,
  ): Promise<Subscriber> {
    const partner = await newBarePartner(deps);
    const receiver = given ?? (await startReceiver());
    const answer = await apiClient(state.api.url, partner.apiKey).request('/v1/webhooks', {
      method: 'POST',
      body: JSON.stringify({ url: url(receiver) }),
    });
    const { webhook_id: webhookId, secret } = createdSchema.parse(await answer.json());
    rememberSecrets(secret);
    return { name, partner, webhookId, secret, receiver };
  }

  return {
    stores,
    deps,
    random,
    environment,
    url: () => state.api.url,
    subscribe,
    /** Commits a transaction with one to five events. */
    append: async ({ partner }: Subscriber): Promise<number> => {
      const content: EventContent[] = Array.from({ length: 1 + Math.floor(random() * 5) }, () => ({
        type: 'audience.cleared',
        data: { audienceId: 1, warehouseSegmentId: 500_001 },
      }));
      const last = await deps.db
        .transaction()
        .execute((tx) => appendEvents(tx, { partnerId: partner.id, customerId: null }, content));
      const now = performance.now();
      for (let n = 0; n < content.length; n += 1) committed.set(keyOf(partner.id, last - n), now);
      return content.length;
    },
    killWorker: async (): Promise<void> => {
      const [victim, ...others] = state.workers;
      victim?.child.kill('SIGKILL');
      state.workers = [...others, await startWorker(environment, 'webhook-campaign')];
    },
    killApi: async (): Promise<void> => {
      state.api.child.kill('SIGKILL');
      state.api = await startApi(environment, 'webhook-campaign');
    },
    /**
     * Reads a partner's log with long polling, as a client does, until `isDone` returns true and everything is read. A
     * request that fails because the API was killed is repeated. Returns the sequence numbers in the order in which
     * they were read.
     */
    readLog: async ({ partner }: Subscriber, isDone: () => boolean): Promise<readonly number[]> => {
      const read: number[] = [];
      while (!isDone() || read.length < countCommitted(partner)) {
        try {
          const path = `/v1/events?after=${read.at(-1) ?? 0}`;
          const response = await apiClient(state.api.url, partner.apiKey).request(path, {
            headers: { prefer: 'wait=2' },
          });
          if (response.ok) read.push(...eventsSchema.parse(await response.json()).map(({ sequence }) => sequence));
          else await pause(100);
        } catch (error) {
          if (!(error instanceof TypeError)) throw error;
          await pause(100);
        }
      }
      return read;
    },
    /** Changes a webhook's URL and replays all events to it. */
    moveTo: async ({ partner, webhookId }: Subscriber, url: string): Promise<void> => {
      const { request } = apiClient(state.api.url, partner.apiKey);
      const path = `/v1/webhooks/${webhookId}`;
      await request(path, { method: 'PATCH', body: JSON.stringify({ url, enabled: true }) });
      await request(`${path}/replay`, { method: 'POST', body: JSON.stringify({ after: 0 }) });
    },
    /** Returns the milliseconds from the commit of each event to its first arrival, in ascending order. */
    delays: ({ partner, receiver }: Subscriber): number[] => {
      const first = new Map<number, number>();
      for (const { body, at } of receiver.received) {
        const sequence = sequenceOf(body);
        first.set(sequence, Math.min(first.get(sequence) ?? Number.POSITIVE_INFINITY, at));
      }
      return [...first]
        .map(([sequence, at]) => at - (committed.get(keyOf(partner.id, sequence)) ?? Number.NaN))
        .toSorted((one, other) => one - other);
    },
    /** Returns how many times the event with the most attempts was sent. */
    mostAttempts: ({ receiver }: Subscriber): number => {
      const attempts = new Map<number, number>();
      for (const { body } of receiver.received)
        attempts.set(sequenceOf(body), (attempts.get(sequenceOf(body)) ?? 0) + 1);
      return Math.max(0, ...attempts.values());
    },
    /** Waits until every event has been accepted, and returns what is wrong with the log or with what was received. */
    check: async (subscriber: Subscriber, seconds: number): Promise<string[]> => {
      const { partner, webhookId, receiver, secret, name } = subscriber;
      const logged = await listAll(deps, partner.id);
      const cleared = logged.filter(({ type }) => type === 'audience.cleared').length;
      if (cleared !== countCommitted(partner)) return [`${name}: the log has ${cleared} events`];
      if (logged.some(({ sequence }, n) => sequence !== n + 1)) return [`${name}: the log has gaps`];
      const missing = (): number[] => {
        const accepted = new Set(
          receiver.received.filter(({ status }) => status === 204).map(({ body }) => sequenceOf(body)),
        );
        return logged.map(({ sequence }) => sequence).filter((sequence) => !accepted.has(sequence));
      };
      await waitUntil(
        `all ${logged.length} events are delivered to the receiver that ${name}`,
        () => Promise.resolve(missing().length === 0),
        seconds,
      ).catch(async (error: unknown) => {
        throw new Error(`${String(error)}: ${await describeDeliveries(stores, webhookId, missing())}`, {
          cause: error,
        });
      });
      const verifier = new StockVerifier(secret);
      const byId = new Map(logged.map((event) => [event.id, JSON.stringify(eventRecord(event))]));
      return receiver.received.flatMap(({ body, headers, path }) => {
        if (path === '/elsewhere') return [`${name}: a redirect was followed`];
        if (byId.get(headers['webhook-id'] ?? '') !== body) return [`${name}: wrong ID or body: ${body}`];
        try {
          verifier.verify(body, headers);
          return [];
        } catch (error) {
          return [`${name}: ${String(error)}`];
        }
      });
    },
    stop: async (subscribers: readonly Subscriber[]): Promise<void> => {
      await Promise.all([state.api, ...state.workers].map(({ child }) => stopProcess(child)));
      await Promise.all(subscribers.map(({ receiver }) => receiver.close()));
      await deps.close();
      await stores.drop();
    },
  };
}

/** Returns what the service has recorded about the events and the webhook. */
async function describeDeliveries(
  stores: TestStores,
  webhookId: number,
  sequences: readonly number[],
): Promise<string> {
  return withDatabase(stores, async (client) => {
    const deliveries = await client.query(
      `SELECT sequence, tries, next_attempt_at, updated_at FROM webhook_delivery
       WHERE webhook_id = $1 AND sequence = ANY($2)`,
      [webhookId, sequences],
    );
    const state = await client.query(`SELECT now(), * FROM webhook_state WHERE webhook_id = $1`, [webhookId]);
    return JSON.stringify({ sequences, deliveries: deliveries.rows, state: state.rows });
  });
}

async function listAll(deps: Wired, partnerId: number) {
  const events = [];
  for (let after = 0; ;) {
    const page = await deps.events.list({ partnerId, customerId: null }, { after, limit: 1000, hidden: [] });
    const last = page.at(-1);
    if (!last) return events;
    events.push(...page);
    after = last.sequence;
  }
}

export function percentile(ascending: readonly number[], share: number): number {
  return ascending[Math.min(ascending.length - 1, Math.floor(ascending.length * share))] ?? Number.NaN;
}
