import { type RawBuilder, sql } from 'kysely';
import type { PgBoss } from 'pg-boss';
import { Failure } from '../../../domain/failure.ts';
import type { JobId, PartnerId } from '../../../domain/ids.ts';
import { importMode, logType, pathType } from '../../../domain/import-log.ts';
import { jobKind, openStatuses } from '../../../domain/job.ts';
import type { Quotas } from '../../../domain/quota.ts';
import {
  type Arrivals,
  type WaitReason,
  decideImport,
  isBlocked,
  nextImportAfter,
  secondsToListing,
} from '../../../domain/subscription.ts';
import type { ListingResult, SubscriptionClaim, SubscriptionQueue } from '../../../ports/subscription-store.ts';
import type { Database, Tx } from '../db/tables.ts';
import { appendEvent } from '../event-log.ts';
import { lockLane, submitJob } from '../lane/lane-store.ts';
import { recordPage } from './record-page.ts';
import { type SettingsRow, toSettings } from './rows.ts';
import { settleEndedJobs } from '../lane/settle-objects.ts';

type Deps = { readonly db: Database; readonly boss: PgBoss; readonly quotas: Quotas };

export function postgresSubscriptionQueue(deps: Deps): SubscriptionQueue {
  const { db } = deps;
  return {
    claim: (limit, leaseSeconds) => claimSubscriptions(db, limit, leaseSeconds),
    recordPage: (claim, range, objects, leaseSeconds) => recordPage(db, claim, { range, objects }, leaseSeconds),
    finish: (claim, limits) => finishListing(deps, claim, limits),
    postpone: async ({ subscriptionId, claim }, seconds) => {
      await sql`
        UPDATE subscription_state
        SET claimed_until = NULL, woken_at = NULL, next_listing_at = now() + make_interval(secs => ${seconds})
        WHERE subscription_id = ${subscriptionId} AND claim = ${claim}`.execute(db);
    },
    wake: (keys) => wakeSubscriptions(db, keys),
    removeExpired: (days, limit) => removeExpired(db, days, limit),
  };
}

type ClaimRow = SettingsRow & {
  id: number;
  claim: number;
  partner_id: PartnerId;
  partner_prefix: string;
  prefix: string;
};

/**
 * The subscription whose last listing is the oldest comes first, and each partner has one turn at a time. A
 * notification starts a listing at once, but at most once a second.
 */
async function claimSubscriptions(db: Database, limit: number, leaseSeconds: number): Promise<SubscriptionClaim[]> {
  const { rows } = await sql<ClaimRow>`
    WITH candidate AS MATERIALIZED (
      SELECT s.subscription_id, s.partner_id, s.claimed_at FROM subscription_state s WHERE ${isListable} AND ${isTime}
      UNION
      SELECT s.subscription_id, s.partner_id, s.claimed_at FROM subscription_state s WHERE ${isListable} AND ${isWoken}
    ), due AS MATERIALIZED (
      SELECT DISTINCT ON (s.partner_id) s.subscription_id, s.claimed_at FROM candidate s
      WHERE NOT EXISTS (
        SELECT FROM subscription_state other WHERE other.partner_id = s.partner_id AND other.claimed_until > now())
      ORDER BY s.partner_id, s.claimed_at
    ), chosen AS (
      SELECT s.subscription_id FROM subscription_state s JOIN due ON due.subscription_id = s.subscription_id
      WHERE ${isListable} AND (${isTime} OR ${isWoken})
      ORDER BY due.claimed_at LIMIT ${limit} FOR UPDATE OF s SKIP LOCKED
    )
    UPDATE subscription_state s
    SET claim = s.claim + 1, claimed_at = now(), woken_at = NULL, claimed_until = now() + make_interval(secs => ${leaseSeconds})
    FROM chosen, subscription, partner
    WHERE s.subscription_id = chosen.subscription_id AND subscription.id = s.subscription_id AND partner.id = s.partner_id
    RETURNING s.subscription_id AS id, s.claim, s.partner_id, partner.prefix AS partner_prefix, subscription.prefix,
      subscription.key_type, subscription.compressed, subscription.quiet_seconds,
      subscription.marker, subscription.every_seconds, subscription.daily_at`.execute(db);
  return rows.map((row) => ({
    subscriptionId: row.id,
    claim: row.claim,
    partnerId: row.partner_id,
    partnerPrefix: row.partner_prefix,
    prefix: row.prefix,
    settings: toSettings(row),
  }));
}

const isListable = sql<boolean>`s.is_active AND (s.claimed_until IS NULL OR s.claimed_until < now())`;

/** Each of these conditions has an index. */
const isTime = sql<boolean>`s.next_listing_at <= now()`;
const isWoken = sql<boolean>`(s.woken_at IS NOT NULL AND s.claimed_at < now() - interval '1 second')`;

type Limits = Parameters<SubscriptionQueue['finish']>[1];

/**
 * A subscription that imports nothing needs no lock on the lane. Without this lock, it creates no import even if one
 * has become possible, because the lane is locked before the state. Otherwise, only an event about too many objects
 * needs the lock, because a lane that ends several jobs locks the event log before the states of subscriptions.
 */
async function finishListing(deps: Deps, claim: SubscriptionClaim, limits: Limits): Promise<ListingResult | null> {
  try {
    return await deps.db.transaction().execute(async (tx) => {
      const before = await selectArrivals(tx, claim);
      if (!before) return null;
      const isLocked = limits.hasTooManyObjects || decideImport(claim.settings.trigger, before).imports !== 'none';
      if (isLocked) await lockLane(tx, claim.partnerId);
      const { rows } = await sql`
        SELECT FROM subscription_state WHERE subscription_id = ${claim.subscriptionId} AND claim = ${claim.claim}
          AND claimed_until IS NOT NULL FOR UPDATE`.execute(tx);
      if (rows.length === 0) return null;
      await settleEndedJobs(tx, claim.subscriptionId);
      // The arrivals do not change while the state is locked.
      return endListing(deps, tx, claim, { limits, arrivals: isLocked ? await selectArrivals(tx, claim) : before });
    });
  } catch (error) {
    const waitsFor = error instanceof Failure ? blockedBy(error) : null;
    if (waitsFor === null) throw error;
    const recorded = await deps.db.transaction().execute(async (tx) => {
      if (limits.hasTooManyObjects) await lockLane(tx, claim.partnerId);
      await reportTooManyObjects(tx, claim, limits);
      return recordListing(tx, claim, limits, { importLogId: null, waitsFor, hasMore: false });
    });
    return recorded ? { importLogId: null, objects: 0, waitsFor, lagSeconds: [] } : null;
  }
}

function blockedBy({ code }: Failure): WaitReason | null {
  if (code === 'too_many_open_jobs') return 'open_imports';
  return code === 'quota_exceeded' ? 'quota' : null;
}

/**
 * The time when a marker that completes the object's folder was first seen. Such a marker was written after the object,
 * into its folder or a folder above it.
 */
const markerSeenAt = (subscriptionId: number, name: string): RawBuilder<Date> => sql<Date>`(
  SELECT min(marker.seen_at) FROM (SELECT string_to_array(o.key, '/') AS segments) AS path
    CROSS JOIN LATERAL generate_series(1, array_length(path.segments, 1) - 1) AS depth
    JOIN subscription_object marker ON marker.subscription_id = ${subscriptionId}
      AND marker.key = array_to_string(path.segments[1:depth], '/') || '/' || ${name}::text
  WHERE marker.gone_at IS NULL AND marker.last_modified >= o.last_modified)`;

const readyAt = ({ subscriptionId, settings: { trigger } }: SubscriptionClaim): RawBuilder<Date> =>
  trigger.on === 'marker' ? markerSeenAt(subscriptionId, trigger.name) : sql<Date>`timestamptz '-infinity'`;

/** Times are compared with the start of the listing, because it does not show later changes. */
async function selectArrivals(tx: Tx, claim: SubscriptionClaim): Promise<Arrivals | null> {
  const { rows } = await sql<Arrivals>`
    SELECT arrived.waiting, arrived.marked, arrived.complete > arrived.marked AS "hasNewMarker",
      (SELECT count(*) FROM job JOIN import_log log ON log.job_id = job.id
        WHERE job.partner_id = ${claim.partnerId} AND job.status IN (${sql.join(openStatuses)})
          AND NOT job.cancelled AND log.subscription_id = ${claim.subscriptionId}) AS "openImports",
      extract(epoch FROM s.claimed_at - coalesce(s.changed_at, s.claimed_at))::float8 AS "quietSeconds",
      coalesce(extract(epoch FROM s.claimed_at - arrived.oldest), 0)::float8 AS "oldestSeconds",
      coalesce(s.next_import_at <= s.claimed_at, false) AS "isScheduled"
    FROM subscription_state s CROSS JOIN LATERAL (
      SELECT count(*) AS waiting, count(ready.at) AS complete, count(*) FILTER (WHERE ready.at < s.claimed_at) AS marked,
        min(o.seen_at) AS oldest
      FROM subscription_object o CROSS JOIN LATERAL (SELECT ${readyAt(claim)} AS at) AS ready
      WHERE o.subscription_id = s.subscription_id AND o.state = 'waiting'
    ) AS arrived
    WHERE s.subscription_id = ${claim.subscriptionId}`.execute(tx);
  return rows[0] ?? null;
}

async function endListing(
  deps: Deps,
  tx: Tx,
  claim: SubscriptionClaim,
  { limits, arrivals }: { readonly limits: Limits; readonly arrivals: Arrivals | null },
): Promise<ListingResult | null> {
  if (!arrivals) return null;
  const decision = decideImport(claim.settings.trigger, arrivals);
  const ready = decision.imports === 'marked' ? arrivals.marked : arrivals.waiting;
  const imported = decision.imports === 'none' ? null : await submitImport(deps, tx, claim, limits);
  if (!imported) await reportTooManyObjects(tx, claim, limits);
  const hasMore = (imported !== null && ready > imported.lagSeconds.length) || arrivals.hasNewMarker;
  const result = { importLogId: imported?.id ?? null, waitsFor: hasMore ? null : decision.waitsFor, hasMore };
  await recordListing(tx, claim, limits, { ...result, isScheduled: arrivals.isScheduled });
  const lagSeconds = imported?.lagSeconds ?? [];
  return { importLogId: result.importLogId, objects: lagSeconds.length, waitsFor: result.waitsFor, lagSeconds };
}

/** Marks the objects in the transaction that appends the job. Each version therefore belongs to one import. */
async function submitImport(
  { boss, quotas }: Deps,
  tx: Tx,
  claim: SubscriptionClaim,
  limits: Limits,
): Promise<{ readonly id: JobId; readonly lagSeconds: number[] }> {
  const { partnerId, subscriptionId, settings } = claim;
  const { maxOpenJobs, maxFiles } = limits;
  const job = { kind: jobKind.import, maxOpenJobs, quotas };
  return submitJob(boss, tx, partnerId, job, async (id) => {
    await tx
      .insertInto('import_log')
      .values({
        job_id: id,
        partner_id: partnerId,
        log_type: logType.import,
        file_path: claim.prefix,
        path_type: pathType.sharedBucket,
        key_type: settings.keyType,
        compressed: settings.compressed,
        // Each import has only the objects that have arrived, so replacing would delete the rows of the previous
        // import.
        mode: importMode.merge,
        keys: null,
        errors: null,
        retry_of: null,
        subscription_id: subscriptionId,
      })
      .execute();
    const { rows } = await sql<{ lag: number }>`
      UPDATE subscription_object SET state = 'queued', job_id = ${id}, updated_at = now()
      WHERE id IN (
        SELECT o.id FROM subscription_object o JOIN subscription_state s ON s.subscription_id = o.subscription_id
        WHERE o.subscription_id = ${subscriptionId} AND o.state = 'waiting' AND ${readyAt(claim)} < s.claimed_at
        ORDER BY o.id LIMIT ${maxFiles})
      RETURNING extract(epoch FROM clock_timestamp() - last_modified)::float8 AS lag`.execute(tx);
    // Locks the event log, so it comes last, but before the token of the lane is sent.
    await reportTooManyObjects(tx, claim, limits);
    return { id, lagSeconds: rows.map(({ lag }) => lag) };
  });
}

const tooManyObjects: WaitReason = 'too_many_objects';

/** Logs an event unless the previous listing also found too many objects. */
async function reportTooManyObjects(
  tx: Tx,
  { subscriptionId, claim, partnerId }: SubscriptionClaim,
  { hasTooManyObjects }: Limits,
): Promise<void> {
  if (!hasTooManyObjects) return;
  const { numAffectedRows } = await sql`
    UPDATE subscription_state SET waits_for = ${tooManyObjects}
    WHERE subscription_id = ${subscriptionId} AND claim = ${claim} AND claimed_until IS NOT NULL
      AND waits_for IS DISTINCT FROM ${tooManyObjects}`.execute(tx);
  if (numAffectedRows !== 1n) return;
  await appendEvent(tx, {
    partnerId,
    customerId: null,
    type: 'subscription.too_many_objects',
    data: { subscriptionId },
  });
}

type Outcome = {
  readonly importLogId: JobId | null;
  readonly waitsFor: WaitReason | null;
  readonly hasMore: boolean;
  readonly isScheduled?: boolean;
};

/**
 * Ends the claim. The time of a schedule is advanced when no object waits for it anymore. Until then, it starts no
 * listings for a blocked subscription.
 */
async function recordListing(
  tx: Tx,
  { subscriptionId, claim, settings: { trigger } }: SubscriptionClaim,
  { listSeconds, hasTooManyObjects }: Limits,
  { importLogId, waitsFor, hasMore, isScheduled = false }: Outcome,
): Promise<boolean> {
  const isOver = isScheduled && !hasMore && waitsFor === null;
  const nextImportAt = isOver ? nextImportAfter(trigger, new Date()) : null;
  const nextAt = sql`coalesce(${nextImportAt}::timestamptz, next_import_at)`;
  // greatest() ignores NULL. Without the CASE, a subscription without a schedule would be listed every second.
  const scheduledAt = isBlocked(waitsFor)
    ? sql`NULL::timestamptz`
    : sql`CASE WHEN ${nextAt} IS NOT NULL THEN greatest(${nextAt}, now() + interval '1 second') END`;
  const seconds = secondsToListing(trigger, { waitsFor, hasMore }, listSeconds);
  const { numAffectedRows } = await sql`
    UPDATE subscription_state
    SET claimed_until = NULL, listed_at = CASE WHEN ${hasTooManyObjects} THEN listed_at ELSE now() END, last_job_id = coalesce(${importLogId}::bigint, last_job_id),
      waits_for = ${hasTooManyObjects ? tooManyObjects : waitsFor},
      next_import_at = coalesce(${nextImportAt}::timestamptz, next_import_at),
      next_listing_at = least(now() + make_interval(secs => ${seconds}), ${scheduledAt})
    WHERE subscription_id = ${subscriptionId} AND claim = ${claim} AND claimed_until IS NOT NULL`.execute(tx);
  return numAffectedRows === 1n;
}

/**
 * Locks rows without waiting, because a row that is locked would hold up other partners, and two workers that wait for
 * each other's rows would deadlock. A subscription that is already woken is left alone, so that many notifications
 * cause one write. The first segment of a key is the partner's prefix, so each key is compared only with that partner's
 * subscriptions.
 */
async function wakeSubscriptions(db: Database, keys: readonly string[]): Promise<readonly string[]> {
  const { rows } = await sql<{ key: string }>`
    WITH named AS MATERIALIZED (
      SELECT state.subscription_id, key
      FROM unnest(${keys}::text[]) AS key JOIN partner ON partner.prefix = split_part(key, '/', 1) || '/'
        JOIN subscription s ON s.partner_id = partner.id AND starts_with(key, partner.prefix || s.prefix)
        JOIN subscription_state state ON state.subscription_id = s.id
      WHERE state.is_active AND state.woken_at IS NULL
    ), unlocked AS (
      SELECT subscription_id FROM subscription_state
      WHERE subscription_id IN (SELECT subscription_id FROM named) AND is_active AND woken_at IS NULL
      FOR NO KEY UPDATE SKIP LOCKED
    ), woken AS (
      UPDATE subscription_state s SET woken_at = now() FROM unlocked WHERE s.subscription_id = unlocked.subscription_id
      RETURNING s.subscription_id
    )
    SELECT DISTINCT key FROM named WHERE subscription_id NOT IN (SELECT subscription_id FROM woken)`.execute(db);
  return rows.map(({ key }) => key);
}

/**
 * A version of an open import is kept, even if a retry has just taken it. An import that a deleted subscription created
 * cannot be retried.
 */
async function removeExpired(db: Database, days: number, limit: number): Promise<number> {
  const gone = await sql`
    DELETE FROM subscription_object WHERE id = ANY (ARRAY(
      SELECT id FROM subscription_object
      WHERE gone_at < now() - make_interval(days => ${days}) AND state <> 'queued' ORDER BY gone_at LIMIT ${limit}))
      AND state <> 'queued'`.execute(db);
  const deleted = sql`
    SELECT s.id FROM subscription s WHERE s.deleted_at IS NOT NULL AND NOT EXISTS (
      SELECT FROM import_log log JOIN job ON job.id = log.job_id
      WHERE job.partner_id = s.partner_id AND job.status IN (${sql.join(openStatuses)}) AND log.subscription_id = s.id)`;
  const objects = await sql`
    DELETE FROM subscription_object WHERE id = ANY (ARRAY(
      SELECT id FROM subscription_object WHERE subscription_id IN (${deleted}) LIMIT ${limit}))`.execute(db);
  const subscriptions = await sql`
    DELETE FROM subscription WHERE id = ANY (ARRAY(
      SELECT s.id FROM subscription s WHERE s.id IN (${deleted})
        AND NOT EXISTS (SELECT FROM subscription_object o WHERE o.subscription_id = s.id) LIMIT ${limit}))`.execute(db);
  return [gone, objects, subscriptions].reduce((sum, { numAffectedRows }) => sum + Number(numAffectedRows ?? 0), 0);
}
