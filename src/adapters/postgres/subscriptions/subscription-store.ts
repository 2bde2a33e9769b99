import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { Failure } from '../../../domain/failure.ts';
import type { IdempotentRequest } from '../../../domain/idempotency.ts';
import type { JobId, PartnerId } from '../../../domain/ids.ts';
import { type Quotas, requireQuota } from '../../../domain/quota.ts';
import {
  type Subscription,
  type SubscriptionObject,
  nextImportAfter,
  objectStates,
  waitReasons,
} from '../../../domain/subscription.ts';
import type {
  NewSubscription,
  ObjectPage,
  SubscriptionChanges,
  SubscriptionStore,
} from '../../../ports/subscription-store.ts';
import type { Database, Tx } from '../db/tables.ts';
import { type RequestRecords, runIdempotently } from '../idempotency-store.ts';
import { lockLane } from '../lane/lane-store.ts';
import { type SettingsRow, toSettings, triggerRow } from './rows.ts';

type Deps = { readonly db: Database; readonly requests: RequestRecords; readonly quotas: Quotas };

export function postgresSubscriptionStore(deps: Deps): SubscriptionStore {
  const { db } = deps;
  return {
    create: (partnerId, request, idempotency) => createSubscription(deps, partnerId, request, idempotency),
    list: (partnerId, { beforeId, limit }) =>
      selectSubscriptions(db, partnerId, sql`s.id < ${beforeId} ORDER BY s.id DESC LIMIT ${limit}`),
    get: async (partnerId, id) => {
      const [found] = await selectSubscriptions(db, partnerId, sql`s.id = ${id}`);
      if (!found) throw noSuchSubscription(id);
      return found;
    },
    update: (partnerId, id, changes, idempotency) =>
      change(deps, { partnerId, id, idempotency, hasQuota: changes.isPaused !== true }, (tx) =>
        updateSubscription(tx, { partnerId, id }, changes),
      ),
    remove: (partnerId, id, idempotency) =>
      change(deps, { partnerId, id, idempotency, hasQuota: false }, async (tx) => {
        await updateState(tx, { partnerId, id }).set({ is_active: false }).execute();
        await updateRow(tx, { partnerId, id })
          .set({ deleted_at: sql<Date>`now()` })
          .execute();
      }),
    listObjects: (partnerId, id, page) => selectObjects(db, { partnerId, id }, page),
  };
}

function noSuchSubscription(id: number): Failure {
  return new Failure('not_found', `Subscription ${id} does not exist.`);
}

type Which = { readonly partnerId: PartnerId; readonly id: number };
type Request = Which & {
  readonly idempotency: IdempotentRequest | null;
  /** False for requests that stop a subscription, which are accepted even above the quota for idempotency keys. */
  readonly hasQuota: boolean;
};

function updateRow(tx: Tx, { partnerId, id }: Which) {
  return tx.updateTable('subscription').where('id', '=', id).where('partner_id', '=', partnerId);
}

/** Every change ends the claim. A listing in progress then records nothing more, because the settings may differ. */
function updateState(tx: Tx, { partnerId, id }: Which) {
  return tx
    .updateTable('subscription_state')
    .set({ claim: sql<number>`claim + 1`, claimed_until: null, next_listing_at: sql<Date>`now()`, waits_for: null })
    .where('subscription_id', '=', id)
    .where('partner_id', '=', partnerId);
}

/** Locks the state first, as workers do. A refusal is not stored under the idempotency key. */
async function change(deps: Deps, request: Request, write: (tx: Tx) => Promise<void>): Promise<void> {
  const { partnerId, id, idempotency, hasQuota } = request;
  await runIdempotently(deps, { partnerId, idempotency, result: z.literal(true), hasQuota }, async (tx) => {
    const { rows } = await sql`
      SELECT FROM subscription_state state JOIN subscription ON subscription.id = state.subscription_id
      WHERE subscription.id = ${id} AND subscription.partner_id = ${partnerId} AND subscription.deleted_at IS NULL
      FOR UPDATE OF state`.execute(tx);
    if (rows.length === 0) throw noSuchSubscription(id);
    await write(tx);
    return true as const;
  });
}

async function createSubscription(
  deps: Deps,
  partnerId: PartnerId,
  request: NewSubscription,
  idempotency: IdempotentRequest | null,
): Promise<number> {
  return runIdempotently(deps, { partnerId, idempotency, result: z.int() }, async (tx) => {
    // Requests of one partner are counted one after another.
    await lockLane(tx, partnerId);
    const existing = await tx
      .selectFrom('subscription')
      .select('id')
      .where('partner_id', '=', partnerId)
      .where('deleted_at', 'is', null)
      .execute();
    requireQuota('subscriptions', deps.quotas, { used: existing.length, added: 1 });
    const { id } = await tx
      .insertInto('subscription')
      .values({
        partner_id: partnerId,
        prefix: request.prefix,
        key_type: request.keyType,
        compressed: request.compressed,
        skips_existing: request.skipsExisting,
        ...triggerRow(request.trigger),
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    await tx
      .insertInto('subscription_state')
      .values({
        subscription_id: id,
        partner_id: partnerId,
        next_import_at: nextImportAfter(request.trigger, new Date()),
      })
      .execute();
    return id;
  });
}

async function updateSubscription(
  tx: Tx,
  { partnerId, id }: Which,
  { keyType, compressed, trigger, isPaused }: SubscriptionChanges,
): Promise<void> {
  await updateRow(tx, { partnerId, id })
    .set({
      ...(keyType === undefined ? {} : { key_type: keyType }),
      ...(compressed === undefined ? {} : { compressed }),
      ...(trigger === undefined ? {} : triggerRow(trigger)),
      ...(isPaused === undefined ? {} : { paused_at: isPaused ? sql<Date>`coalesce(paused_at, now())` : null }),
      updated_at: sql<Date>`now()`,
    })
    .execute();
  await updateState(tx, { partnerId, id })
    .set({
      ...(isPaused === undefined ? {} : { is_active: !isPaused }),
      ...(trigger === undefined ? {} : { next_import_at: nextImportAfter(trigger, new Date()) }),
    })
    .execute();
  if (trigger?.on === 'marker')
    await sql`
      UPDATE subscription_object SET state = 'marker', updated_at = now()
      WHERE subscription_id = ${id} AND partner_id = ${partnerId} AND state = 'waiting'
        -- PostgreSQL counts characters, not UTF-16 code units.
        AND right(key, ${Array.from(trigger.name).length + 1}) = ${`/${trigger.name}`}`.execute(tx);
}

type Row = SettingsRow & {
  id: number;
  prefix: string;
  skips_existing: boolean;
  created_at: Date;
  updated_at: Date;
  paused_at: Date | null;
  waiting: number;
  waits_for: string | null;
  next_import_at: Date | null;
  listed_at: Date | null;
  last_job_id: JobId | null;
};

async function selectSubscriptions(
  db: Database,
  partnerId: PartnerId,
  which: RawBuilder<unknown>,
): Promise<Subscription[]> {
  const { rows } = await sql<Row>`
    SELECT s.id, s.prefix, s.key_type, s.compressed, s.skips_existing, s.quiet_seconds, s.marker, s.every_seconds,
      s.daily_at, s.created_at, s.updated_at, s.paused_at, state.waits_for, state.next_import_at, state.listed_at,
      state.last_job_id,
      (SELECT count(*) FROM subscription_object o WHERE o.subscription_id = s.id AND o.state = 'waiting') AS waiting
    FROM subscription s JOIN subscription_state state ON state.subscription_id = s.id
    WHERE s.partner_id = ${partnerId} AND s.deleted_at IS NULL AND ${which}`.execute(db);
  return rows.map((row) => ({
    ...toSettings(row),
    id: row.id,
    prefix: row.prefix,
    skipsExisting: row.skips_existing,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    pausedAt: row.paused_at,
    waitingObjects: row.waiting,
    waitsFor: waitReasons.find((reason) => reason === row.waits_for) ?? null,
    nextImportAt: row.next_import_at,
    listedAt: row.listed_at,
    lastImportLogId: row.last_job_id,
  }));
}

async function selectObjects(
  db: Database,
  { partnerId, id }: Which,
  { beforeId, limit, state }: ObjectPage,
): Promise<SubscriptionObject[]> {
  const [subscription] = await selectSubscriptions(db, partnerId, sql`s.id = ${id}`);
  if (!subscription) throw noSuchSubscription(id);
  let query = db
    .selectFrom('subscription_object as o')
    .innerJoin('partner', 'partner.id', 'o.partner_id')
    .select(['o.id', 'o.etag', 'o.size', 'o.state', 'o.job_id', 'o.error_code'])
    .select(['o.last_modified', 'o.seen_at', 'o.updated_at'])
    .select(sql<string>`substr(o.key, length(partner.prefix) + 1)`.as('path'))
    .where('o.subscription_id', '=', id)
    .where('o.partner_id', '=', partnerId)
    .where('o.id', '<', beforeId)
    .orderBy('o.id', 'desc')
    .limit(limit);
  if (state !== undefined) query = query.where('o.state', '=', state);
  const rows = await query.execute();
  return rows.map((row) => ({
    id: row.id,
    path: row.path,
    etag: row.etag,
    size: row.size,
    // A later release can store other states.
    state: objectStates.find((known) => known === row.state) ?? 'failed',
    importLogId: row.job_id,
    errorCode: row.error_code,
    lastModified: row.last_modified,
    seenAt: row.seen_at,
    updatedAt: row.updated_at,
  }));
}
