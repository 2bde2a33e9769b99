import { sql } from 'kysely';
import type { LoggedEvent } from '../../domain/event.ts';
import type { PartnerId } from '../../domain/ids.ts';
import { type DueDelivery, isFor, maxAttemptsShown, maxSecrets, rotationHours } from '../../domain/webhook.ts';
import { type Health, failuresBeforePause, isDelivered, isPaused } from '../../domain/webhook-schedule.ts';
import type { Sealer } from '../../ports/crypto.ts';
import type { AttemptRecord, DueEvents, WebhookClaim, WebhookQueue } from '../../ports/webhook-store.ts';
import type { Database, Tx } from './db/tables.ts';
import { type EventRow, appendEvent, eventColumns, toLoggedEvent, toLoggedEvents } from './event-log.ts';
import { openWebhookSecret } from './webhook-secrets.ts';

/** Number of events that are read at a time to find the events for a webhook. */
const scannedAtATime = 500;

export function postgresWebhookQueue(db: Database, sealer: Sealer): WebhookQueue {
  return {
    claim: (which) => claimWebhooks(db, which),
    findDue: (claim, limits) => findDue(db, sealer, claim, limits),
    record: (claim, attempted, leaseSeconds) => record(db, claim, attempted, leaseSeconds),
    release: async ({ webhookId, claim }, pauseSeconds) => {
      await sql`
        UPDATE webhook_state SET claimed_until = NULL,
          paused_until = CASE WHEN ${pauseSeconds}::float8 > 0
            THEN greatest(paused_until, now() + make_interval(secs => ${pauseSeconds})) ELSE paused_until END
        WHERE webhook_id = ${webhookId} AND claim = ${claim}`.execute(db);
    },
  };
}

/** The webhook whose last attempt is the oldest comes first. A webhook that a transaction is changing is skipped. */
async function claimWebhooks(
  db: Database,
  { limit, areFailing, slow, leaseSeconds }: Parameters<WebhookQueue['claim']>[0],
): Promise<WebhookClaim[]> {
  const { rows } = await sql<WebhookClaim>`
    WITH due AS (
      SELECT s.webhook_id FROM webhook_state s LEFT JOIN event_counter c ON c.partner_id = s.partner_id
      WHERE s.disabled_at IS NULL
        AND (s.failures_in_a_row >= ${failuresBeforePause} OR s.webhook_id = ANY (${slow}::bigint[])) = ${areFailing}
        AND (s.claimed_until IS NULL OR s.claimed_until < now())
        AND (s.paused_until IS NULL OR s.paused_until <= now())
        AND (s.position < c.last_sequence OR s.replay_position < s.replay_until OR EXISTS (
          SELECT FROM webhook_delivery d WHERE d.webhook_id = s.webhook_id AND d.next_attempt_at <= now()))
      ORDER BY s.claimed_at LIMIT ${limit} FOR UPDATE OF s SKIP LOCKED
    )
    UPDATE webhook_state s
    SET claim = s.claim + 1, claimed_at = now(), claimed_until = now() + make_interval(secs => ${leaseSeconds})
    FROM due WHERE s.webhook_id = due.webhook_id
    RETURNING s.webhook_id AS "webhookId", s.claim`.execute(db);
  return rows;
}

type StateRow = {
  partner_id: PartnerId;
  url: string;
  event_types: string[] | null;
  position: number;
  replay_position: number;
  replay_until: number;
  failures_in_a_row: number;
  failing_since: Date | null;
  last_failure_at: Date | null;
  warned_at: Date | null;
  paused_until: Date | null;
  secrets: readonly { readonly keyId: string; readonly sealed: string }[];
};

/**
 * Selects up to `limit` events: those whose next attempt is due, then new events, and then events that are replayed. Due
 * attempts leave room for new events, so that a receiver that rejects some events gets the others in time.
 */
async function findDue(
  db: Database,
  sealer: Sealer,
  { webhookId, claim }: WebhookClaim,
  limits: { readonly healthy: number; readonly failing: number },
): Promise<DueEvents | null> {
  const state = await selectState(db, { webhookId, claim });
  if (!state) return null;
  const health: Health = {
    failuresInARow: state.failures_in_a_row,
    failingSince: state.failing_since,
    lastFailureAt: state.last_failure_at,
    warnedAt: state.warned_at,
    pausedUntil: state.paused_until,
    disabled: null,
  };
  const limit = isPaused(health) ? limits.failing : limits.healthy;
  const webhook = { id: webhookId, eventTypes: state.event_types };
  const partnerId = state.partner_id;
  const retries = await selectRetries(db, { partnerId, webhookId }, Math.ceil(limit / 2));
  const first = await scan(db, { partnerId, after: state.position, until: null }, webhook, limit - retries.length);
  const free = limit - retries.length - first.events.length;
  const replayed = await scan(
    db,
    { partnerId, after: state.replay_position, until: state.replay_until },
    webhook,
    free,
  );
  const pending = await selectPending(db, webhookId, replayed.events);
  const owner = { partnerId, webhookId };
  return {
    target: {
      webhookId,
      partnerId,
      url: state.url,
      secrets: state.secrets.map(({ keyId, sealed }) =>
        openWebhookSecret(sealer, owner, { keyId, bytes: Buffer.from(sealed, 'hex') }),
      ),
    },
    health,
    deliveries: withoutRepeats([
      ...retries,
      ...first.events.map((event): DueDelivery => ({ event, reason: 'first', isReplay: false, tries: 0 })),
      ...replayed.events.map((event): DueDelivery => {
        const isReplay = !pending.has(event.sequence);
        return { event, reason: 'replay', isReplay, tries: 0 };
      }),
    ]),
    position: first.position,
    replayPosition: { from: state.replay_position, to: replayed.position },
    hasMoved: first.position !== state.position || replayed.position !== state.replay_position,
  };
}

/** An event can be due for several reasons, for example if it failed and is replayed. It is sent and recorded once. */
function withoutRepeats(deliveries: readonly DueDelivery[]): DueDelivery[] {
  const bySequence = new Map<number, DueDelivery>();
  for (const one of deliveries) if (!bySequence.has(one.event.sequence)) bySequence.set(one.event.sequence, one);
  return [...bySequence.values()];
}

/** A secret is used for signing until a day after the next one was created. */
async function selectState(db: Database, { webhookId, claim }: WebhookClaim): Promise<StateRow | undefined> {
  const { rows } = await sql<StateRow>`
    SELECT s.partner_id, w.url, w.event_types, s.position, s.replay_position, s.replay_until,
      s.failures_in_a_row, s.failing_since, s.last_failure_at, s.warned_at, s.paused_until,
      (SELECT json_agg(json_build_object('keyId', key_id, 'sealed', encode(sealed, 'hex')) ORDER BY id DESC) FROM (
        SELECT id, key_id, sealed FROM webhook_secret secret
        WHERE secret.webhook_id = s.webhook_id AND NOT EXISTS (
          SELECT FROM webhook_secret next WHERE next.webhook_id = s.webhook_id AND next.id > secret.id
            AND next.created_at < now() - make_interval(hours => ${rotationHours}))
        ORDER BY id DESC LIMIT ${maxSecrets}) AS signing) AS secrets
    FROM webhook_state s JOIN webhook w ON w.id = s.webhook_id
    WHERE s.webhook_id = ${webhookId} AND s.claim = ${claim} AND s.claimed_until IS NOT NULL
      AND s.disabled_at IS NULL AND w.deleted_at IS NULL`.execute(db);
  return rows[0];
}

async function selectRetries(
  db: Database,
  { partnerId, webhookId }: { readonly partnerId: PartnerId; readonly webhookId: number },
  limit: number,
): Promise<DueDelivery[]> {
  const { rows } = await sql<EventRow & { tries: number; is_replay: boolean }>`
    SELECT ${eventColumns}, delivery.tries, delivery.is_replay
    FROM webhook_delivery delivery
      JOIN event ON event.partner_id = ${partnerId} AND event.sequence = delivery.sequence
      LEFT JOIN customer ON customer.id = event.customer_id
    WHERE delivery.webhook_id = ${webhookId} AND delivery.partner_id = ${partnerId} AND delivery.next_attempt_at <= now()
    ORDER BY delivery.next_attempt_at, delivery.sequence LIMIT ${limit}`.execute(db);
  return rows.flatMap((row) => {
    const event = toLoggedEvent(row);
    if (!event) return [];
    return { event, reason: row.tries === 0 ? 'replay' : 'retry', isReplay: row.is_replay, tries: row.tries };
  });
}

/** Returns which of these events would be sent again without a replay. Their failures count. */
async function selectPending(
  db: Database,
  webhookId: number,
  events: readonly LoggedEvent[],
): Promise<ReadonlySet<number>> {
  if (events.length === 0) return new Set();
  const rows = await db
    .selectFrom('webhook_delivery')
    .select('sequence')
    .where('webhook_id', '=', webhookId)
    .where(
      'sequence',
      'in',
      events.map(({ sequence }) => sequence),
    )
    .where('next_attempt_at', 'is not', null)
    .where('is_replay', '=', false)
    .execute();
  return new Set(rows.map(({ sequence }) => sequence));
}

/** Returns events that are for the webhook, and the last position that was examined. */
async function scan(
  db: Database,
  { partnerId, after, until }: { readonly partnerId: PartnerId; readonly after: number; readonly until: number | null },
  webhook: { readonly id: number; readonly eventTypes: readonly string[] | null },
  limit: number,
): Promise<{ readonly events: readonly LoggedEvent[]; readonly position: number }> {
  if (limit <= 0 || (until !== null && after >= until)) return { events: [], position: after };
  const { rows } = await sql<EventRow>`
    SELECT ${eventColumns} FROM event LEFT JOIN customer ON customer.id = event.customer_id
    WHERE event.partner_id = ${partnerId} AND event.sequence > ${after}
      AND (${until}::bigint IS NULL OR event.sequence <= ${until})
    ORDER BY event.sequence LIMIT ${webhook.eventTypes === null ? limit : scannedAtATime}`.execute(db);
  const known = toLoggedEvents(rows);
  const events: LoggedEvent[] = [];
  let position = after;
  for (const event of known) {
    if (events.length === limit) break;
    position = event.sequence;
    if (isFor(event, webhook)) events.push(event);
  }
  // The events may already be deleted.
  if (rows.length === 0) position = until ?? (await selectEndOfLog(db, partnerId, after));
  return { events, position };
}

/**
 * Returns the end of the log if it has no events after the position, and the position otherwise. Without this, a webhook
 * whose pending events are deleted would be claimed for them again and again.
 */
async function selectEndOfLog(db: Database, partnerId: PartnerId, position: number): Promise<number> {
  const { rows } = await sql<{ last_sequence: number }>`
    SELECT last_sequence FROM event_counter WHERE partner_id = ${partnerId} AND last_sequence > ${position}
      AND NOT EXISTS (SELECT FROM event WHERE partner_id = ${partnerId} AND sequence > ${position})`.execute(db);
  return rows[0]?.last_sequence ?? position;
}

/**
 * Locks the state first, as every change to a webhook does. Logs events last, because the lock on the counter is held
 * until the transaction ends.
 */
async function record(
  db: Database,
  { webhookId, claim }: WebhookClaim,
  { due: { position, replayPosition }, attempts, health, warns }: AttemptRecord,
  leaseSeconds: number,
): Promise<boolean> {
  const { disabled } = health;
  return db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ partner_id: PartnerId; is_disabled_now: boolean }>`
      UPDATE webhook_state s
      SET position = greatest(s.position, ${position}::bigint),
        -- A replay that was requested in the meantime starts at its own position.
        replay_position = CASE s.replay_position WHEN ${replayPosition.from} THEN ${replayPosition.to} ELSE s.replay_position END,
        claimed_until = now() + make_interval(secs => ${leaseSeconds}),
        failures_in_a_row = ${health.failuresInARow}, failing_since = ${health.failingSince},
        last_failure_at = ${health.lastFailureAt}, warned_at = ${health.warnedAt}, paused_until = ${health.pausedUntil},
        disabled_at = coalesce(s.disabled_at, ${disabled?.at ?? null}::timestamptz),
        disabled_reason = CASE WHEN s.disabled_at IS NULL THEN ${disabled?.reason ?? null}::text ELSE s.disabled_reason END
      FROM webhook_state before
      WHERE s.webhook_id = ${webhookId} AND s.claim = ${claim} AND s.claimed_until IS NOT NULL
        AND before.webhook_id = s.webhook_id
      RETURNING s.partner_id, before.disabled_at IS NULL AND s.disabled_at IS NOT NULL AS is_disabled_now`.execute(tx);
    const [state] = rows;
    if (!state) return false;
    await recordAttempts(tx, { webhookId, partnerId: state.partner_id }, attempts);
    const about = { partnerId: state.partner_id, customerId: null };
    if (state.is_disabled_now && disabled)
      await appendEvent(tx, { ...about, type: 'webhook.disabled', data: { webhookId, reason: disabled.reason } });
    else if (warns) await appendEvent(tx, { ...about, type: 'webhook.failing', data: { webhookId } });
    return true;
  });
}

async function recordAttempts(
  tx: Tx,
  { webhookId, partnerId }: { readonly webhookId: number; readonly partnerId: PartnerId },
  attempts: AttemptRecord['attempts'],
): Promise<void> {
  if (attempts.length === 0) return;
  const rows = attempts.map(({ delivery, result, nextAttemptAt }) => ({
    sequence: delivery.event.sequence,
    type: delivery.event.type,
    isReplay: delivery.isReplay,
    tries: delivery.tries + 1,
    next: nextAttemptAt?.toISOString() ?? null,
    delivered: isDelivered(result) ? result.at.toISOString() : null,
    attempt: JSON.stringify([
      { at: result.at.toISOString(), milliseconds: result.milliseconds, status: result.status, error: result.error },
    ]),
  }));
  await sql`
    INSERT INTO webhook_delivery AS delivery (
      webhook_id, partner_id, sequence, event_type, is_replay, tries, next_attempt_at, delivered_at, attempts)
    SELECT ${webhookId}, ${partnerId}, * FROM unnest(
      ${rows.map(({ sequence }) => sequence)}::bigint[], ${rows.map(({ type }) => type)}::text[],
      ${rows.map(({ isReplay }) => isReplay)}::boolean[], ${rows.map(({ tries }) => tries)}::smallint[],
      ${rows.map(({ next }) => next)}::timestamptz[], ${rows.map(({ delivered }) => delivered)}::timestamptz[],
      ${rows.map(({ attempt }) => attempt)}::jsonb[])
    ON CONFLICT (webhook_id, sequence) DO UPDATE
    SET is_replay = excluded.is_replay, tries = excluded.tries, next_attempt_at = excluded.next_attempt_at,
      delivered_at = coalesce(excluded.delivered_at, delivery.delivered_at), updated_at = now(),
      attempts = CASE WHEN jsonb_array_length(delivery.attempts) < ${maxAttemptsShown}
        THEN delivery.attempts ELSE delivery.attempts - 0 END || excluded.attempts`.execute(tx);
}
