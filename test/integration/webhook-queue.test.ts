import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { appendEvents } from '../../src/adapters/postgres/event-log.ts';
import { randomWebhookSecrets } from '../../src/adapters/vault/webhook-secrets.ts';
import type { EventContent } from '../../src/domain/event.ts';
import { healthy } from '../../src/domain/webhook-schedule.ts';
import type { AttemptResult } from '../../src/domain/webhook.ts';
import type { DueEvents, WebhookClaim } from '../../src/ports/webhook-store.ts';
import { rememberSecrets } from '../support/known-secrets.ts';
import { type TestStores, createStores, withDatabase } from '../support/stores.ts';
import { type Wired, newBarePartner, wireUp } from '../support/wired.ts';

const limits = { healthy: 8, failing: 1 };
const cleared: EventContent = { type: 'audience.cleared', data: { audienceId: 1, warehouseSegmentId: 500_001 } };
const ready: EventContent = { type: 'audience.ready', data: { audienceId: 1, warehouseSegmentId: 500_001, status: 2 } };

describe('the webhook queue', () => {
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

  const query = (text: string, ...values: unknown[]): Promise<Record<string, unknown>[]> =>
    withDatabase(stores, async (client) => (await client.query<Record<string, unknown>>(text, values)).rows);

  const { signal } = new AbortController();

  async function newWebhook(eventTypes: readonly string[] | null = null) {
    const { id: partnerId } = await newBarePartner(deps);
    const secret = randomWebhookSecrets.issue();
    rememberSecrets(secret.reveal());
    const fields = { url: 'https://example.com/', description: '', eventTypes };
    const { id } = await deps.webhooks.create(partnerId, fields, secret, null);
    const append = (...events: EventContent[]): Promise<number> =>
      deps.db.transaction().execute((tx) => appendEvents(tx, { partnerId, customerId: null }, events));
    return { id, partnerId, secret, append };
  }

  const claim = (leaseSeconds = 60, areFailing = false): Promise<readonly WebhookClaim[]> =>
    deps.webhookQueue.claim({ limit: 100, areFailing, slow: [], leaseSeconds });

  async function claimOf(id: number, leaseSeconds?: number, areFailing?: boolean): Promise<WebhookClaim> {
    const found = (await claim(leaseSeconds, areFailing)).find(({ webhookId }) => webhookId === id);
    if (!found) throw new Error(`webhook ${id} is not due`);
    return found;
  }

  async function dueOf(held: WebhookClaim): Promise<DueEvents> {
    const due = await deps.webhookQueue.findDue(held, limits);
    if (!due) throw new Error('the claim is lost');
    return due;
  }

  const result = (status: number): AttemptResult => ({
    at: new Date(),
    milliseconds: 1,
    status,
    error: null,
    retryAfterSeconds: null,
  });

  /** Records this response status for every due event. */
  const recordAll = (held: WebhookClaim, due: DueEvents, status: number, health = healthy): Promise<boolean> =>
    deps.webhookQueue.record(
      held,
      {
        due,
        health,
        warns: false,
        attempts: due.deliveries.map((delivery) => ({
          delivery,
          result: result(status),
          nextAttemptAt: status < 300 ? null : new Date(),
        })),
      },
      60,
    );

  const sequencesOf = ({ deliveries }: DueEvents): number[] => deliveries.map(({ event }) => event.sequence);

  it('sends the events since the webhook was created, in order, at most eight at a time', async () => {
    const { id, partnerId, append } = await newWebhook();
    await append(...Array.from({ length: 10 }, () => cleared));
    const other = await deps.webhooks.create(
      partnerId,
      { url: 'https://example.com/', description: '', eventTypes: null },
      randomWebhookSecrets.issue(),
      null,
    );
    const held = await claimOf(id);
    const first = await dueOf(held);
    expect(sequencesOf(first)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(await recordAll(held, first, 204)).toBe(true);
    expect(sequencesOf(await dueOf(held))).toEqual([9, 10]);
    expect((await claim()).map(({ webhookId }) => webhookId)).not.toContain(other.id);
  });

  it('a webhook is claimed by one worker at a time, and by another one after the lease expires or the claim is released', async () => {
    const { id, append } = await newWebhook();
    await append(cleared);
    const [claims, others] = await Promise.all([claim(), claim()]);
    const holders = [...claims, ...others].filter(({ webhookId }) => webhookId === id);
    expect(holders).toHaveLength(1);
    await query('UPDATE webhook_state SET claimed_until = now() WHERE webhook_id = $1', id);
    const next = await claimOf(id);
    await deps.webhookQueue.release(next, 0);
    await claimOf(id);
  });

  it('lets only the holder of the last claim read and record', async () => {
    const { id, append } = await newWebhook();
    await append(cleared);
    const first = await claimOf(id);
    const due = await dueOf(first);
    await query('UPDATE webhook_state SET claimed_until = now() WHERE webhook_id = $1', id);
    const second = await claimOf(id);
    expect(await recordAll(first, due, 204)).toBe(false);
    expect(await deps.webhookQueue.findDue(first, limits)).toBeNull();
    expect(sequencesOf(await dueOf(second))).toEqual([1]);
    await deps.webhookQueue.release(first, 0);
    expect(sequencesOf(await dueOf(second))).toEqual([1]);
  });

  it('skips events whose type is not selected', async () => {
    const { id, append } = await newWebhook(['audience.ready']);
    await append(cleared, ready, cleared);
    const held = await claimOf(id);
    const due = await dueOf(held);
    expect(sequencesOf(due)).toEqual([2]);
    await recordAll(held, due, 204);
    expect(await dueOf(held)).toMatchObject({ deliveries: [], hasMoved: false });
    await deps.webhookQueue.release(held, 0);
    expect((await claim()).map(({ webhookId }) => webhookId)).not.toContain(id);
  });

  it('stops before an event of a type that this release does not know', async () => {
    const { id, partnerId, append } = await newWebhook();
    await append(cleared, cleared, cleared);
    await query(`UPDATE event SET type = 'audience.sold' WHERE partner_id = $1 AND sequence = 2`, partnerId);
    const held = await claimOf(id);
    const due = await dueOf(held);
    expect(sequencesOf(due)).toEqual([1]);
    await recordAll(held, due, 204);
    expect(await dueOf(held)).toMatchObject({ deliveries: [], hasMoved: false });
  });

  it('sends a failed event again, with the number of earlier attempts', async () => {
    const { id, partnerId, append } = await newWebhook();
    await append(cleared);
    const held = await claimOf(id);
    await recordAll(held, await dueOf(held), 500);
    const again = await dueOf(held);
    expect(again.deliveries).toMatchObject([{ reason: 'retry', tries: 1, isReplay: false }]);
    await recordAll(held, again, 204);
    expect((await dueOf(held)).deliveries).toEqual([]);
    const page = { beforeSequence: 100, limit: 10, statuses: undefined };
    expect(await deps.webhooks.listDeliveries(partnerId, id, page)).toMatchObject([
      { sequence: 1, status: 'delivered', attempts: [{ status: 500 }, { status: 204 }] },
    ]);
  });

  it('logs that a webhook is disabled in the transaction that disables it, and keeps its position', async () => {
    const { id, partnerId, append } = await newWebhook();
    await append(cleared);
    const held = await claimOf(id);
    const due = await dueOf(held);
    const health = { ...healthy, disabled: { at: new Date(), reason: 'gone' } } as const;
    await recordAll(held, due, 410, health);
    expect(await deps.webhookQueue.findDue(held, limits)).toBeNull();
    expect(await deps.webhooks.get(partnerId, id)).toMatchObject({ disabledReason: 'gone' });
    await append(ready);
    await deps.webhooks.update(partnerId, id, { isEnabled: true }, null);
    await deps.webhookQueue.release(held, 0);
    const types = (await dueOf(await claimOf(id))).deliveries.map(({ event }) => event.type);
    expect(types.toSorted()).toEqual(['audience.cleared', 'audience.ready', 'webhook.disabled']);
  });

  it.each([{ url: 'https://example.com/new' }, { isEnabled: true }])(
    'does not record attempts that were made before a change to %j',
    async (changes) => {
      const { id, partnerId, append } = await newWebhook();
      await append(cleared);
      const held = await claimOf(id);
      const due = await dueOf(held);
      await deps.webhooks.update(partnerId, id, changes, null);
      const failing = { ...healthy, failuresInARow: 5, disabled: { at: new Date(), reason: 'gone' } } as const;
      expect(await recordAll(held, due, 410, failing)).toBe(false);
      expect(await deps.webhooks.get(partnerId, id)).toMatchObject({ disabledAt: null, pendingEvents: 1 });
      const next = await dueOf(await claimOf(id));
      expect(next.target.url).toBe(changes.url ?? 'https://example.com/');
      expect(sequencesOf(next)).toEqual([1]);
    },
  );

  it('keeps the claim if only the description or the event types change', async () => {
    const { id, partnerId, append } = await newWebhook();
    await append(cleared);
    const held = await claimOf(id);
    const due = await dueOf(held);
    await deps.webhooks.update(partnerId, id, { description: 'New', eventTypes: ['audience.ready'] }, null);
    expect(await recordAll(held, due, 204)).toBe(true);
  });

  it('keeps a replay that is requested while another one is running', async () => {
    const { id, partnerId, append } = await newWebhook();
    await append(...Array.from({ length: 20 }, () => cleared));
    await query('UPDATE webhook_state SET position = 20 WHERE webhook_id = $1', id);
    await deps.webhooks.replayAfter(partnerId, id, 10, null);
    const held = await claimOf(id);
    const due = await dueOf(held);
    expect(sequencesOf(due)).toEqual([11, 12, 13, 14, 15, 16, 17, 18]);
    await deps.webhooks.replayAfter(partnerId, id, 2, null);
    await recordAll(held, due, 204);
    expect(sequencesOf(await dueOf(held))[0]).toBe(3);
  });

  it('counts each event of a replay as pending once, until it is sent', async () => {
    const { id, partnerId, append } = await newWebhook();
    const pending = async (): Promise<number> => (await deps.webhooks.get(partnerId, id)).pendingEvents;
    await append(...Array.from({ length: 20 }, () => cleared));
    const first = await claimOf(id);
    await recordAll(first, await dueOf(first), 500);
    expect(await pending()).toBe(20);
    await query('UPDATE webhook_state SET position = 20 WHERE webhook_id = $1', id);
    await query(`UPDATE webhook_delivery SET next_attempt_at = now() + interval '1 hour' WHERE webhook_id = $1`, id);
    await deps.webhooks.replayAfter(partnerId, id, 4, null);
    // Events 1 to 4, which failed, and 5 to 20. Events 5 to 8 failed, too.
    expect(await pending()).toBe(20);
    await recordAll(first, await dueOf(first), 204);
    expect(await pending()).toBe(12);
    await query('DELETE FROM event WHERE partner_id = $1 AND sequence <= 16', partnerId);
    expect(await pending()).toBe(8);
  });

  it('sends an event only once if it is replayed before it has been sent', async () => {
    const { id, partnerId, append } = await newWebhook();
    await append(cleared);
    const held = await claimOf(id);
    await recordAll(held, await dueOf(held), 204, { ...healthy, pausedUntil: new Date(Date.now() + 60_000) });
    await deps.webhookQueue.release(held, 0);
    await append(cleared, cleared);
    await deps.webhooks.replayEvent(partnerId, id, 2, null);
    expect((await deps.webhooks.get(partnerId, id)).pendingEvents).toBe(2);
    const next = await claimOf(id);
    const due = await dueOf(next);
    expect(sequencesOf(due)).toEqual([2, 3]);
    expect(await recordAll(next, due, 204)).toBe(true);
    expect(await dueOf(next)).toMatchObject({ deliveries: [], hasMoved: false });
  });

  it('sends an event only once if it failed and is replayed', async () => {
    const { id, partnerId, append } = await newWebhook();
    await append(cleared, cleared, cleared);
    const held = await claimOf(id);
    await recordAll(held, await dueOf(held), 500);
    await deps.webhooks.replayAfter(partnerId, id, 0, null);
    await append(cleared);
    const due = await dueOf(held);
    expect(sequencesOf(due)).toEqual([1, 2, 3, 4]);
    expect(await recordAll(held, due, 204)).toBe(true);
    expect(await dueOf(held)).toMatchObject({ deliveries: [], hasMoved: false });
  });

  it('keeps counting the failures of an event that is replayed while it is pending', async () => {
    const { id, partnerId, append } = await newWebhook();
    await append(cleared, cleared, cleared);
    const held = await claimOf(id);
    await recordAll(held, await dueOf(held), 204);
    await query(
      `UPDATE webhook_delivery SET delivered_at = NULL, next_attempt_at = now() + interval '1 hour'
       WHERE webhook_id = $1 AND sequence < 3`,
      id,
    );
    await deps.webhooks.replayAfter(partnerId, id, 1, null);
    const replays = ({ deliveries }: DueEvents) => deliveries.map(({ event, isReplay }) => [event.sequence, isReplay]);
    const due = await dueOf(held);
    expect(replays(due)).toEqual([
      [2, false],
      [3, true],
    ]);
    await recordAll(held, due, 204);
    await deps.webhooks.replayEvent(partnerId, id, 1, null);
    await deps.webhooks.replayEvent(partnerId, id, 2, null);
    expect(replays(await dueOf(held))).toEqual([
      [1, false],
      [2, true],
    ]);
  });

  it('signs with an old secret for a day after the rotation', async () => {
    const { id, partnerId, secret, append } = await newWebhook();
    const next = randomWebhookSecrets.issue();
    rememberSecrets(next.reveal());
    await deps.webhooks.rotate(partnerId, id, next, null);
    await append(cleared);
    const held = await claimOf(id);
    const signing = async (): Promise<string[]> => (await dueOf(held)).target.secrets.map((one) => one.reveal());
    expect(await signing()).toEqual([next.reveal(), secret.reveal()]);
    await query(
      `UPDATE webhook_secret SET created_at = created_at - interval '25 hours' WHERE webhook_id = $1 AND id = (
         SELECT max(id) FROM webhook_secret WHERE webhook_id = $1)`,
      id,
    );
    expect(await signing()).toEqual([next.reveal()]);
    await deps.events.removeExpired(signal);
    expect(await query('SELECT id FROM webhook_secret WHERE webhook_id = $1', id)).toHaveLength(1);
  });

  it('deletes old deliveries and deleted webhooks', async () => {
    const { id, partnerId, append } = await newWebhook();
    await append(cleared, cleared);
    const held = await claimOf(id);
    await recordAll(held, await dueOf(held), 204);
    await query(
      `UPDATE webhook_delivery SET updated_at = now() - interval '31 days' WHERE webhook_id = $1 AND sequence = 1`,
      id,
    );
    await deps.events.removeExpired(signal);
    expect(await query('SELECT sequence FROM webhook_delivery WHERE webhook_id = $1', id)).toHaveLength(1);
    await deps.webhooks.remove(partnerId, id, null);
    await deps.events.removeExpired(signal);
    expect(await query('SELECT id FROM webhook WHERE id = $1', id)).toEqual([]);
  });

  it('deletes any number of old deliveries and deliveries of deleted webhooks, in batches', async () => {
    const addDeliveries = ({ id, partnerId }: { readonly id: number; readonly partnerId: number }, age: string) =>
      query(
        `INSERT INTO webhook_delivery (webhook_id, sequence, partner_id, event_type, updated_at)
         SELECT $1, n, $2, 'audience.ready', now() - $3::interval FROM generate_series(1, 25000) n`,
        id,
        partnerId,
        age,
      );
    const kept = await newWebhook();
    const removed = await newWebhook();
    await addDeliveries(kept, '31 days');
    await addDeliveries(removed, '1 day');
    await deps.webhooks.remove(removed.partnerId, removed.id, null);
    await query('CREATE TABLE deleted_at_a_time (rows bigint)');
    await query(`CREATE FUNCTION count_deleted() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN INSERT INTO deleted_at_a_time SELECT count(*) FROM deleted; RETURN NULL; END'`);
    await query(`CREATE TRIGGER count_deleted AFTER DELETE ON webhook_delivery
      REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION count_deleted()`);
    try {
      await deps.events.removeExpired(signal);
      const [counts] = await query('SELECT max(rows)::int AS most, sum(rows)::int AS all FROM deleted_at_a_time');
      expect(counts).toEqual({ most: 10_000, all: 50_000 });
      expect(await query('SELECT id FROM webhook WHERE id = ANY ($1)', [kept.id, removed.id])).toMatchObject([
        { id: String(kept.id) },
      ]);
    } finally {
      await query('DROP TRIGGER count_deleted ON webhook_delivery');
      await query('DROP FUNCTION count_deleted');
      await query('DROP TABLE deleted_at_a_time');
    }
  });

  it('gives up on events that are deleted before their next attempt', async () => {
    const { id, partnerId, append } = await newWebhook();
    await append(cleared, cleared);
    const held = await claimOf(id);
    await recordAll(held, await dueOf(held), 500);
    await deps.webhookQueue.release(held, 0);
    await query(
      `UPDATE event SET created_at = now() - interval '31 days' WHERE partner_id = $1 AND sequence = 1`,
      partnerId,
    );
    await deps.events.removeExpired(signal);
    const page = { beforeSequence: 100, limit: 10, statuses: undefined };
    expect(await deps.webhooks.listDeliveries(partnerId, id, page)).toMatchObject([
      { sequence: 2, status: 'pending' },
      { sequence: 1, status: 'failed', nextAttemptAt: null },
    ]);
    const next = await claimOf(id);
    await recordAll(next, await dueOf(next), 204);
    await deps.webhookQueue.release(next, 0);
    expect((await claim()).map(({ webhookId }) => webhookId)).not.toContain(id);
  });

  it('has no pending events left if they are deleted before they are sent', async () => {
    const { id, partnerId, append } = await newWebhook();
    await append(cleared, cleared);
    await query('DELETE FROM event WHERE partner_id = $1', partnerId);
    const held = await claimOf(id);
    const due = await dueOf(held);
    expect(due).toMatchObject({ deliveries: [], position: 2, hasMoved: true });
    await recordAll(held, due, 204);
    await deps.webhookQueue.release(held, 0);
    expect((await deps.webhooks.get(partnerId, id)).pendingEvents).toBe(0);
    expect((await claim()).map(({ webhookId }) => webhookId)).not.toContain(id);
    await append(cleared);
    expect(sequencesOf(await dueOf(await claimOf(id)))).toEqual([3]);
  });

  it('logs the events for 10,000 files in one short statement', async () => {
    const { append } = await newWebhook();
    await append(cleared);
    const start = performance.now();
    expect(await append(...Array.from({ length: 10_000 }, () => cleared))).toBe(10_001);
    const ms = performance.now() - start;
    process.stdout.write(`10,000 events in ${Math.round(ms)} ms\n`);
    expect(ms).toBeLessThan(5_000);
  });
});
