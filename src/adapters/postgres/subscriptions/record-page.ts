import { sql } from 'kysely';
import { isMarker } from '../../../domain/subscription.ts';
import type { KeyRange, ListedObject, SubscriptionClaim } from '../../../ports/subscription-store.ts';
import type { Database } from '../db/tables.ts';

type Page = { readonly range: KeyRange; readonly objects: readonly ListedObject[] };

/**
 * Writes only what differs from the known versions, so that a listing without changes writes nothing but the lease. A
 * version that reappears before it was loaded waits again. A version that was loaded or skipped waits again only if it
 * was gone and was then written again, because another version was loaded in the meantime. A marker that is written
 * again counts as seen now.
 *
 * An object that existed when the subscription was created is skipped on request. AWS reports times in whole seconds,
 * so an object from the same second counts as new. Later listings skip nothing, because the time of a multipart upload
 * is the time at which it started.
 */
export async function recordPage(
  db: Database,
  { subscriptionId, claim, partnerId, settings }: SubscriptionClaim,
  { range, objects }: Page,
  leaseSeconds: number,
): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    const { numAffectedRows } = await sql`
      UPDATE subscription_state SET claimed_until = now() + make_interval(secs => ${leaseSeconds})
      WHERE subscription_id = ${subscriptionId} AND claim = ${claim} AND claimed_until IS NOT NULL`.execute(tx);
    if (numAffectedRows !== 1n) return false;
    await sql`
      WITH listed AS MATERIALIZED (
        SELECT * FROM unnest(
          ${objects.map(({ key }) => key)}::text[], ${objects.map(({ etag }) => etag)}::text[],
          ${objects.map(({ size }) => size)}::bigint[],
          ${objects.map(({ lastModified }) => lastModified.toISOString())}::timestamptz[],
          ${objects.map(({ key }) => isMarker(settings.trigger, key))}::boolean[]
        ) AS l (key, etag, size, last_modified, is_marker)
      ), current AS MATERIALIZED (
        SELECT id, key, etag, size, state, last_modified, gone_at FROM subscription_object
        WHERE subscription_id = ${subscriptionId} AND gone_at IS NULL
          AND (${range.after}::text IS NULL OR key > ${range.after}::text COLLATE "C")
          AND (${range.until}::text IS NULL OR key <= ${range.until}::text COLLATE "C")
      ), known AS MATERIALIZED (
        SELECT * FROM current
        UNION ALL
        SELECT returned.* FROM listed l CROSS JOIN LATERAL (
          SELECT id, key, etag, size, state, last_modified, gone_at FROM subscription_object o
          WHERE o.subscription_id = ${subscriptionId} AND o.key = l.key AND o.etag = l.etag AND o.size = l.size
            AND o.gone_at IS NOT NULL
          LIMIT 1 -- keeps the lookup by the unique index, so that other versions that are gone are not read
        ) AS returned
        WHERE NOT EXISTS (SELECT FROM current c WHERE c.key = l.key AND c.etag = l.etag AND c.size = l.size)
      ), added AS (
        INSERT INTO subscription_object (subscription_id, partner_id, key, etag, size, last_modified, state)
        SELECT ${subscriptionId}, ${partnerId}, l.key, l.etag, l.size, l.last_modified,
          CASE WHEN l.is_marker THEN 'marker'
            WHEN s.skips_existing AND state.listed_at IS NULL AND l.last_modified < date_trunc('second', s.created_at)
            THEN 'skipped' ELSE 'waiting' END
        FROM listed l, subscription s JOIN subscription_state state ON state.subscription_id = s.id
        WHERE s.id = ${subscriptionId} AND NOT EXISTS (
          SELECT FROM known k WHERE k.key = l.key AND k.etag = l.etag AND k.size = l.size)
        ON CONFLICT (subscription_id, key, etag, size) DO NOTHING
        RETURNING state
      ), returned AS (
        UPDATE subscription_object o
        SET gone_at = NULL, last_modified = k.last_modified, updated_at = now(),
          seen_at = CASE WHEN k.waits OR o.state = 'marker' THEN now() ELSE o.seen_at END,
          job_id = CASE WHEN k.waits THEN NULL ELSE o.job_id END,
          error_code = CASE WHEN k.waits THEN NULL ELSE o.error_code END,
          state = CASE WHEN k.waits THEN 'waiting' ELSE o.state END
        FROM (
          SELECT k.id, l.last_modified, k.state IN ('overwritten', 'deleted') OR (
            k.state IN ('imported', 'failed', 'skipped') AND k.gone_at IS NOT NULL AND is_changed) AS waits
          FROM known k JOIN listed l ON l.key = k.key AND l.etag = k.etag AND l.size = k.size,
            LATERAL (SELECT k.last_modified <> l.last_modified AS is_changed) AS time
          WHERE k.gone_at IS NOT NULL OR is_changed OR k.state IN ('overwritten', 'deleted')
        ) AS k
        WHERE o.id = k.id
        RETURNING o.state
      ), gone AS (
        UPDATE subscription_object o
        SET gone_at = now(), updated_at = now(), state = CASE WHEN o.state <> 'waiting' THEN o.state
          WHEN EXISTS (SELECT FROM listed l WHERE l.key = o.key) THEN 'overwritten' ELSE 'deleted' END
        FROM known k
        WHERE o.id = k.id AND k.gone_at IS NULL AND NOT EXISTS (
          SELECT FROM listed l WHERE l.key = k.key AND l.etag = k.etag AND l.size = k.size)
      )
      UPDATE subscription_state SET changed_at = now()
      WHERE subscription_id = ${subscriptionId} AND EXISTS (
        SELECT FROM (SELECT state FROM added UNION ALL SELECT state FROM returned) AS changed
        WHERE state IN ('waiting', 'marker'))`.execute(tx);
    return true;
  });
}
