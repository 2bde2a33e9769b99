import { sql } from 'kysely';
import { z } from 'zod';
import { Failure } from '../../domain/failure.ts';
import type { IdempotentRequest } from '../../domain/idempotency.ts';
import type { PartnerId } from '../../domain/ids.ts';
import { type Quotas, requireQuota } from '../../domain/quota.ts';
import { Secret } from '../../domain/secret.ts';
import { disabledReasons } from '../../domain/event.ts';
import { type Delivery, type Webhook, attemptErrors, isFor, rotationHours } from '../../domain/webhook.ts';
import type { Sealer } from '../../ports/crypto.ts';
import type { DeliveryPage, WebhookChanges, WebhookFields, WebhookStore } from '../../ports/webhook-store.ts';
import type { Database, Tx } from './db/tables.ts';
import { type EventRow, appendEvent, eventColumns, toLoggedEvent } from './event-log.ts';
import { type RequestRecords, runIdempotently } from './idempotency-store.ts';
import { lockLane } from './lane/lane-store.ts';
import { sealWebhookSecret, webhookSecretContext } from './webhook-secrets.ts';

type Deps = {
  readonly db: Database;
  readonly sealer: Sealer;
  readonly requests: RequestRecords;
  readonly quotas: Quotas;
};

export function postgresWebhookStore(deps: Deps): WebhookStore {
  const { db } = deps;
  return {
    create: (partnerId, fields, secret, idempotency) => createWebhook(deps, partnerId, fields, secret, idempotency),
    list: (partnerId, { beforeId, limit }) =>
      selectWebhooks(db, partnerId, sql`webhook.id < ${beforeId} ORDER BY webhook.id DESC LIMIT ${limit}`),
    get: async (partnerId, id) => {
      const [found] = await selectWebhooks(db, partnerId, sql`webhook.id = ${id}`);
      if (!found) throw noSuchWebhook(id);
      return found;
    },
    update: (partnerId, id, changes, idempotency) =>
      change(deps, { partnerId, id, idempotency, hasQuota: changes.isEnabled !== false }, (tx, { isDisabled }) =>
        updateWebhook(tx, { partnerId, id, isDisabled }, changes),
      ),
    remove: (partnerId, id, idempotency) =>
      change(deps, { partnerId, id, idempotency, hasQuota: false }, async (tx) => {
        await tx
          .updateTable('webhook_state')
          .set({ disabled_at: sql<Date>`coalesce(disabled_at, now())` })
          .where('webhook_id', '=', id)
          .where('partner_id', '=', partnerId)
          .execute();
        await tx
          .updateTable('webhook')
          .set({ deleted_at: sql<Date>`now()` })
          .where('id', '=', id)
          .where('partner_id', '=', partnerId)
          .execute();
      }),
    rotate: (partnerId, id, secret, idempotency) => rotateSecret(deps, { partnerId, id, idempotency }, secret),
    test: (partnerId, id, idempotency) => testWebhook(deps, { partnerId, id, idempotency }),
    listDeliveries: (partnerId, id, page) => selectDeliveries(db, { partnerId, id }, page),
    replayEvent: (partnerId, id, sequence, idempotency) =>
      change(deps, { partnerId, id, idempotency }, async (tx, found) => {
        requireEnabled(id, found);
        await replayEvent(tx, { partnerId, id, ...found }, sequence);
      }),
    replayAfter: (partnerId, id, after, idempotency) =>
      change(deps, { partnerId, id, idempotency }, async (tx, found) => {
        requireEnabled(id, found);
        // Extends a replay that has not ended. Some events may then be sent twice.
        await sql`
          UPDATE webhook_state
          SET replay_position = CASE WHEN replay_position < replay_until THEN least(replay_position, ${after}) ELSE ${after} END,
            replay_until = position, paused_until = NULL
          WHERE webhook_id = ${id} AND partner_id = ${partnerId}`.execute(tx);
      }),
  };
}

function noSuchWebhook(id: number): Failure {
  return new Failure('not_found', `Webhook ${id} does not exist.`);
}

function requireEnabled(id: number, { isDisabled }: Pick<Found, 'isDisabled'>): void {
  if (isDisabled) throw new Failure('webhook_disabled', `Webhook ${id} is disabled.`);
}

type Which = { readonly partnerId: PartnerId; readonly id: number };
type Request = Which & {
  readonly idempotency: IdempotentRequest | null;
  /** False for requests that stop a webhook, which are accepted even above the quota for idempotency keys. */
  readonly hasQuota?: boolean;
};
type Found = {
  readonly isDisabled: boolean;
  readonly eventTypes: readonly string[] | null;
  readonly position: number;
};

/**
 * Locks the state of the webhook before anything else, as workers do. Throws if the partner has no such webhook, so that
 * the refusal is not stored under the idempotency key.
 */
async function lockWebhook(tx: Tx, { partnerId, id }: Which): Promise<Found> {
  const { rows } = await sql<{ is_disabled: boolean; event_types: string[] | null; position: number }>`
    SELECT state.disabled_at IS NOT NULL AS is_disabled, webhook.event_types, state.position
    FROM webhook_state state JOIN webhook ON webhook.id = state.webhook_id
    WHERE webhook.id = ${id} AND webhook.partner_id = ${partnerId} AND webhook.deleted_at IS NULL
    FOR UPDATE OF state`.execute(tx);
  const [row] = rows;
  if (!row) throw noSuchWebhook(id);
  return { isDisabled: row.is_disabled, eventTypes: row.event_types, position: row.position };
}

async function change(deps: Deps, request: Request, write: (tx: Tx, found: Found) => Promise<void>): Promise<void> {
  const { partnerId, idempotency, hasQuota = true } = request;
  await runIdempotently(deps, { partnerId, idempotency, result: z.literal(true), hasQuota }, async (tx) => {
    await write(tx, await lockWebhook(tx, request));
    return true as const;
  });
}

const sealedSchema = z.object({ id: z.int(), keyId: z.string(), sealed: z.string() });

/** Opens a secret that was stored as the result of a request. */
function openResult(
  { sealer }: Deps,
  partnerId: PartnerId,
  { id, keyId, sealed }: z.infer<typeof sealedSchema>,
): Secret {
  const context = webhookSecretContext({ partnerId, webhookId: id });
  return new Secret(sealer.open({ keyId, bytes: Buffer.from(sealed, 'base64') }, context));
}

async function createWebhook(
  deps: Deps,
  partnerId: PartnerId,
  { url, description, eventTypes }: WebhookFields,
  secret: Secret,
  idempotency: IdempotentRequest | null,
): Promise<{ id: number; secret: Secret }> {
  const run = { partnerId, idempotency, result: sealedSchema };
  const created = await runIdempotently(deps, run, async (tx) => {
    // Requests of one partner are counted one after another.
    await lockLane(tx, partnerId);
    const existing = await tx
      .selectFrom('webhook')
      .select('id')
      .where('partner_id', '=', partnerId)
      .where('deleted_at', 'is', null)
      .execute();
    requireQuota('webhooks', deps.quotas, { used: existing.length, added: 1 });
    const { id } = await tx
      .insertInto('webhook')
      .values({ partner_id: partnerId, url, description, event_types: eventTypes && [...eventTypes] })
      .returning('id')
      .executeTakeFirstOrThrow();
    // The webhook gets the events that are logged from now on.
    await tx
      .insertInto('webhook_state')
      .values({
        webhook_id: id,
        partner_id: partnerId,
        position: sql<number>`coalesce((SELECT last_sequence FROM event_counter WHERE partner_id IN (${partnerId})), 0)`,
      })
      .execute();
    return { id, ...(await insertSecret(tx, deps.sealer, { partnerId, id }, secret)) };
  });
  return { id: created.id, secret: openResult(deps, partnerId, created) };
}

async function insertSecret(
  tx: Tx,
  sealer: Sealer,
  { partnerId, id: webhookId }: Which,
  secret: Secret,
): Promise<{ keyId: string; sealed: string }> {
  const { keyId, bytes } = sealWebhookSecret(sealer, { partnerId, webhookId }, secret);
  await tx
    .insertInto('webhook_secret')
    .values({ webhook_id: webhookId, partner_id: partnerId, key_id: keyId, sealed: bytes })
    .execute();
  return { keyId, sealed: Buffer.from(bytes).toString('base64') };
}

async function rotateSecret(deps: Deps, request: Request, secret: Secret): Promise<Secret> {
  const { partnerId, id, idempotency } = request;
  const rotated = await runIdempotently(deps, { partnerId, idempotency, result: sealedSchema }, async (tx) => {
    await lockWebhook(tx, request);
    await tx
      .updateTable('webhook')
      .set({ rotated_at: sql<Date>`now()` })
      .where('id', '=', id)
      .where('partner_id', '=', partnerId)
      .execute();
    return { id, ...(await insertSecret(tx, deps.sealer, request, secret)) };
  });
  return openResult(deps, partnerId, rotated);
}

async function updateWebhook(
  tx: Tx,
  { partnerId, id, isDisabled }: Which & { readonly isDisabled: boolean },
  { url, description, eventTypes, isEnabled }: WebhookChanges,
): Promise<void> {
  await tx
    .updateTable('webhook')
    .set({
      ...(url === undefined ? {} : { url }),
      ...(description === undefined ? {} : { description }),
      ...(eventTypes === undefined ? {} : { event_types: eventTypes && [...eventTypes] }),
      updated_at: sql<Date>`now()`,
    })
    .where('id', '=', id)
    .where('partner_id', '=', partnerId)
    .execute();
  const state = tx.updateTable('webhook_state').where('webhook_id', '=', id).where('partner_id', '=', partnerId);
  // Ends the claim, so that attempts in progress are not recorded. Their results do not apply to the new settings.
  if (isEnabled !== undefined || url !== undefined)
    await state.set({ claim: sql<number>`claim + 1`, claimed_until: null }).execute();
  if (isEnabled === false && !isDisabled)
    await state.set({ disabled_at: sql<Date>`now()`, disabled_reason: 'request' satisfies DisabledReason }).execute();
  // Enabling forgets the failures. A new address gets the events without delay.
  if (isEnabled === true || url !== undefined)
    await state
      .set({
        failures_in_a_row: 0,
        failing_since: null,
        warned_at: null,
        paused_until: null,
        ...(isEnabled === true ? { disabled_at: null, disabled_reason: null } : {}),
      })
      .execute();
  if (isEnabled === false && !isDisabled)
    await appendEvent(tx, {
      partnerId,
      customerId: null,
      type: 'webhook.disabled',
      data: { webhookId: id, reason: 'request' },
    });
}

type DisabledReason = (typeof disabledReasons)[number];

async function testWebhook(deps: Deps, request: Request): Promise<number> {
  const { partnerId, id, idempotency } = request;
  return runIdempotently(deps, { partnerId, idempotency, result: z.int() }, async (tx) => {
    requireEnabled(id, await lockWebhook(tx, request));
    // A test does not wait for the end of a pause.
    await tx
      .updateTable('webhook_state')
      .set({ paused_until: null })
      .where('webhook_id', '=', id)
      .where('partner_id', '=', partnerId)
      .execute();
    return appendEvent(tx, { partnerId, customerId: null, type: 'webhook.test', data: { webhookId: id } });
  });
}

/**
 * An event after the position is sent anyway, so only the pause ends. A failed event that is due to be sent again
 * anyway does not become a replay, because its failures count toward disabling the webhook.
 */
async function replayEvent(
  tx: Tx,
  { partnerId, id, eventTypes, position }: Which & Pick<Found, 'eventTypes' | 'position'>,
  sequence: number,
): Promise<void> {
  const { rows } = await sql<EventRow>`
    SELECT ${eventColumns} FROM event LEFT JOIN customer ON customer.id = event.customer_id
    WHERE event.partner_id = ${partnerId} AND event.sequence = ${sequence}`.execute(tx);
  const event = rows[0] && toLoggedEvent(rows[0]);
  if (!event || !isFor(event, { id, eventTypes }))
    throw new Failure('event_not_replayable', `Webhook ${id} cannot get event ${sequence} again.`);
  if (sequence <= position)
    await sql`
      INSERT INTO webhook_delivery AS delivery (webhook_id, sequence, partner_id, event_type, is_replay, next_attempt_at)
      SELECT ${id}, ${sequence}, ${partnerId}, ${event.type}, true, now()
      ON CONFLICT (webhook_id, sequence) DO UPDATE
      SET tries = 0, is_replay = delivery.is_replay OR delivery.next_attempt_at IS NULL, next_attempt_at = now(),
        updated_at = now()`.execute(tx);
  await tx
    .updateTable('webhook_state')
    .set({ paused_until: null })
    .where('webhook_id', '=', id)
    .where('partner_id', '=', partnerId)
    .execute();
}

type WebhookRow = {
  id: number;
  url: string;
  description: string;
  event_types: string[] | null;
  created_at: Date;
  updated_at: Date;
  failing_since: Date | null;
  paused_until: Date | null;
  disabled_at: Date | null;
  disabled_reason: string | null;
  pending_events: number;
  old_secrets_expire_at: Date | null;
};

async function selectWebhooks(
  db: Database | Tx,
  partnerId: PartnerId,
  which: ReturnType<typeof sql>,
): Promise<Webhook[]> {
  const { rows } = await sql<WebhookRow>`
    SELECT webhook.id, webhook.url, webhook.description, webhook.event_types, webhook.created_at, webhook.updated_at,
      state.failing_since, CASE WHEN state.paused_until > now() THEN state.paused_until END AS paused_until,
      state.disabled_at, state.disabled_reason,
      greatest(0, coalesce(counter.last_sequence, 0) - state.position)
        -- The first events of a replay can be deleted already. A failed event that is replayed is sent once.
        + greatest(0, state.replay_until - greatest(state.replay_position,
          (SELECT min(sequence) - 1 FROM event WHERE event.partner_id IN (webhook.partner_id))))
        + (SELECT count(*) FROM webhook_delivery d WHERE d.webhook_id = webhook.id AND d.next_attempt_at IS NOT NULL
          AND NOT (d.sequence > state.replay_position AND d.sequence <= state.replay_until)) AS pending_events,
      CASE WHEN webhook.rotated_at > now() - make_interval(hours => ${rotationHours})
        THEN webhook.rotated_at + make_interval(hours => ${rotationHours}) END AS old_secrets_expire_at
    FROM webhook JOIN webhook_state state ON state.webhook_id = webhook.id
      LEFT JOIN event_counter counter ON counter.partner_id IN (webhook.partner_id)
    WHERE webhook.partner_id = ${partnerId} AND webhook.deleted_at IS NULL AND ${which}`.execute(db);
  return rows.map((row) => ({
    id: row.id,
    url: row.url,
    description: row.description,
    eventTypes: row.event_types,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    failingSince: row.failing_since,
    pausedUntil: row.paused_until,
    disabledAt: row.disabled_at,
    disabledReason: disabledReasons.find((reason) => reason === row.disabled_reason) ?? null,
    pendingEvents: row.pending_events,
    oldSecretsExpireAt: row.old_secrets_expire_at,
  }));
}

const attemptsSchema = z.array(
  z.object({
    at: z.iso.datetime({ offset: true }).transform((text) => new Date(text)),
    milliseconds: z.number(),
    status: z.int().nullable(),
    // A later release can store other errors.
    error: z.enum(attemptErrors).nullable().catch('connection_failed'),
  }),
);

const deliveryStatus = sql<Delivery['status']>`
  CASE WHEN next_attempt_at IS NOT NULL THEN 'pending' WHEN delivered_at IS NOT NULL THEN 'delivered' ELSE 'failed' END`;

async function selectDeliveries(
  db: Database,
  { partnerId, id }: Which,
  { beforeSequence, limit, statuses }: DeliveryPage,
): Promise<Delivery[]> {
  const [webhook] = await selectWebhooks(db, partnerId, sql`webhook.id = ${id}`);
  if (!webhook) throw noSuchWebhook(id);
  let query = db
    .selectFrom('webhook_delivery')
    .select(['sequence', 'event_type', 'is_replay', 'attempts', 'next_attempt_at', 'delivered_at', 'created_at'])
    .select(deliveryStatus.as('status'))
    .where('webhook_id', '=', id)
    .where('partner_id', '=', partnerId)
    .where('sequence', '<', beforeSequence)
    .orderBy('sequence', 'desc')
    .limit(limit);
  if (statuses) query = query.where(deliveryStatus, 'in', statuses);
  return (await query.execute()).map((row) => ({
    sequence: row.sequence,
    eventType: row.event_type,
    status: row.status,
    isReplay: row.is_replay,
    attempts: attemptsSchema.parse(row.attempts),
    nextAttemptAt: row.next_attempt_at,
    deliveredAt: row.delivered_at,
    createdAt: row.created_at,
  }));
}
