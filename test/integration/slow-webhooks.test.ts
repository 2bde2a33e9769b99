import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { appendEvents } from '../../src/adapters/postgres/event-log.ts';
import { randomWebhookSecrets } from '../../src/adapters/vault/webhook-secrets.ts';
import type { EventContent } from '../../src/domain/event.ts';
import type { WebhookSender } from '../../src/ports/webhook-store.ts';
import { type Dispatcher, eventDispatcher } from '../../src/usecases/webhook/deliver-events.ts';
import { rememberSecrets } from '../support/known-secrets.ts';
import { silentLog } from '../support/silent-log.ts';
import { type TestStores, createStores } from '../support/stores.ts';
import { type Wired, newBarePartner, wireUp } from '../support/wired.ts';

const places = 4;
const cleared: EventContent = { type: 'audience.cleared', data: { audienceId: 1, warehouseSegmentId: 500_001 } };

const within = { timeout: 10_000 };

describe('slow webhook receivers', () => {
  let stores: TestStores;
  let deps: Wired;

  beforeAll(async () => {
    stores = await createStores('one');
    deps = await wireUp(stores);
  });
  afterAll(async () => {
    await deps.close();
    await stores.drop();
  });

  async function newPartner(webhooks: number) {
    const { id } = await newBarePartner(deps);
    for (let n = 0; n < webhooks; n++) {
      const secret = randomWebhookSecrets.issue();
      rememberSecrets(secret.reveal());
      await deps.webhooks.create(id, { url: 'https://example.com/', description: '', eventTypes: null }, secret, null);
    }
    const append = (events: number): Promise<number> =>
      deps.db.transaction().execute((tx) =>
        appendEvents(
          tx,
          { partnerId: id, customerId: null },
          Array.from({ length: events }, () => cleared),
        ),
      );
    return { id, append };
  }

  /**
   * Completes deliveries to one partner's receivers only when `respond` is called, and to all other receivers
   * immediately.
   */
  function slowSender(slowPartnerId: number) {
    const waiting: (() => void)[] = [];
    const sent: number[] = [];
    const webhookSender: WebhookSender = {
      send: async ({ partnerId }) => {
        const isSlow = partnerId === slowPartnerId;
        if (isSlow) await new Promise<void>((resolve) => waiting.push(resolve));
        sent.push(partnerId);
        const milliseconds = isSlow ? 5_000 : 5;
        return { at: new Date(), milliseconds, status: 204, error: null, retryAfterSeconds: null };
      },
    };
    const respond = (): void => {
      for (const resolve of waiting.splice(0)) resolve();
    };
    return { webhookSender, waiting, sent, respond };
  }

  it('slow receivers do not delay the receivers of other partners, even if there are more slow receivers than places', async () => {
    const slow = await newPartner(2 * places);
    const healthy = await newPartner(1);
    const { webhookSender, waiting, sent, respond } = slowSender(slow.id);
    const dispatcher: Dispatcher = eventDispatcher({
      webhookQueue: deps.webhookQueue,
      webhookSender,
      delivery: { scale: 1, timeoutSeconds: 15, maxWebhooks: places },
      log: silentLog,
      recordAttempt: () => undefined,
    });
    try {
      await slow.append(1_000);
      await dispatcher.dispatch();
      await vi.waitFor(() => expect(waiting).toHaveLength(8 * places), within);
      // One slow batch is not enough for a receiver to count as slow.
      respond();
      await vi.waitFor(() => expect(waiting).toHaveLength(8 * places), within);
      // After the second batch, the other receivers take the places in turn.
      respond();
      await vi.waitFor(() => expect(waiting).toHaveLength(8 * (places + 1)), within);
      respond();
      await vi.waitFor(() => expect(waiting).toHaveLength(8 * (places + 1)), within);
      respond();
      await vi.waitFor(() => expect(waiting).toHaveLength(8), within);
      await healthy.append(3);
      await dispatcher.dispatch();
      await vi.waitFor(() => expect(sent.filter((partnerId) => partnerId === healthy.id)).toHaveLength(3), within);
      // The slow receivers get their events in a separate place.
      const before = sent.length;
      respond();
      await vi.waitFor(() => expect(sent).toHaveLength(before + 8), within);
      await vi.waitFor(() => expect(waiting).toHaveLength(8), within);
    } finally {
      const stopped = dispatcher.stop();
      respond();
      await stopped;
    }
  });
});
