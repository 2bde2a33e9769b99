import { type RawBuilder, sql } from 'kysely';
import { daysBetweenRemovals, lastUnseenSeq } from '../../domain/device-retention.ts';
import type { PartnerId } from '../../domain/ids.ts';
import { openStatuses } from '../../domain/job.ts';
import type { DeviceRetention, DeviceRetentionState, UnseenRemoval } from '../../ports/device-retention.ts';
import { advisoryLocks, withSessionLock } from './db/advisory-locks.ts';
import type { Database, Tx } from './db/tables.ts';
import { lockLane, tryStartWork } from './lane/lane-store.ts';

/** After a change to the setting, the operator has this much time to correct it before rows are removed. */
const hoursAfterChange = 1;

const isDue = sql`due_at <= now()
  AND (is_removing OR (SELECT device_days FROM partner WHERE id = partner_id) IS NOT NULL)`;

export function postgresDeviceRetention(db: Database): DeviceRetention {
  return {
    hasDue: async () => {
      const { rows } = await sql`SELECT FROM device_retention WHERE ${isDue} LIMIT 1`.execute(db);
      return rows.length > 0;
    },
    runAlone: async (run) => {
      const ran = await withSessionLock(db, sql`${advisoryLocks.deviceRetention}::bigint`, async () => {
        await run();
        return true;
      });
      return ran ?? false;
    },
    listDue: async (limit) => {
      const { rows } = await sql<{ id: PartnerId }>`
        SELECT partner_id AS id FROM device_retention WHERE ${isDue} ORDER BY due_at LIMIT ${limit}`.execute(db);
      return rows.map(({ id }) => id);
    },
    begin: (partnerId, jobDays) => db.transaction().execute((tx) => begin(tx, partnerId, jobDays)),
    recordFound: async ({ partnerId }, { rows, attributeIds }) => {
      await sql`
        UPDATE device_retention SET rows = greatest(rows, ${rows}),
          attribute_ids = ARRAY(SELECT unnest(attribute_ids) UNION SELECT unnest(${attributeIds}::bigint[]))
        WHERE partner_id = ${partnerId}`.execute(db);
    },
    finish: (removal) => db.transaction().execute((tx) => finish(tx, removal)),
    postpone: async (partnerId, seconds, failure) => {
      await sql`
        UPDATE device_retention SET due_at = now() + make_interval(secs => ${seconds}), failure = ${failure}
        WHERE partner_id = ${partnerId}`.execute(db);
    },
  };
}

/** Takes the lock on the lane, which a repair holds while it restores rows. */
async function begin(tx: Tx, partnerId: PartnerId, jobDays: number): Promise<UnseenRemoval | null> {
  const { suspended_at: suspendedAt } = await lockLane(tx, partnerId);
  // A backup must contain either the rows or the record of their removal.
  if (!(await tryStartWork(tx))) return null;
  const state = await tx
    .selectFrom('device_retention')
    .innerJoin('partner', 'partner.id', 'partner_id')
    .select(['device_days', 'forgotten_seq', 'unseen_seq', 'is_removing'])
    .where('partner_id', '=', partnerId)
    .executeTakeFirst();
  if (!state) return null;
  if (state.is_removing) return { partnerId, lastSeq: state.unseen_seq };
  if (state.device_days === null || suspendedAt !== null) return null;
  const { rows } = await sql<{ last_old: number | null; first_recent: number | null }>`
    SELECT max(seq) FILTER (WHERE ${isOld(state.device_days)}) AS last_old,
      min(seq) FILTER (WHERE ${isOld(state.device_days)} IS NOT TRUE) AS first_recent
    FROM job WHERE partner_id = ${partnerId}`.execute(tx);
  const lane = {
    lastOldSeq: rows[0]?.last_old ?? null,
    firstRecentSeq: rows[0]?.first_recent ?? null,
    forgottenSeq: state.forgotten_seq,
  };
  const lastSeq = lastUnseenSeq(lane, { deviceDays: state.device_days, jobDays });
  if (lastSeq === 0) return null;
  await sql`
    UPDATE device_retention SET is_removing = true, unseen_seq = greatest(unseen_seq, ${lastSeq}), rows = 0, attribute_ids = '{}'
    WHERE partner_id = ${partnerId}`.execute(tx);
  return { partnerId, lastSeq: Math.max(state.unseen_seq, lastSeq) };
}

function isOld(deviceDays: number): RawBuilder<boolean> {
  return sql<boolean>`(status NOT IN (${sql.join(openStatuses)}) AND (NOT cancelled OR cleaned_at IS NOT NULL)
    AND finished_at < now() - make_interval(days => ${deviceDays}))`;
}

/** Notes a version that no row has yet, so that the fold reads only the attributes that have changed. */
async function finish(tx: Tx, { partnerId, lastSeq }: UnseenRemoval): Promise<void> {
  const ended = await tx
    .selectFrom('device_retention')
    .innerJoin('partner', 'partner.id', 'partner_id')
    .select(['rows', 'attribute_ids', 'device_days', 'next_seq'])
    .where('partner_id', '=', partnerId)
    .where('unseen_seq', '=', lastSeq)
    .where('is_removing', '=', true)
    .forUpdate('device_retention')
    .executeTakeFirst();
  if (!ended) return;
  const days = ended.device_days === null ? 1 : daysBetweenRemovals(ended.device_days);
  await sql`
    UPDATE device_retention SET is_removing = false, removed_rows = removed_rows + rows, rows = 0, attribute_ids = '{}',
      removed_at = CASE WHEN rows > 0 THEN now() ELSE removed_at END, failure = NULL,
      due_at = now() + make_interval(days => ${days})
    WHERE partner_id = ${partnerId}`.execute(tx);
  if (ended.rows === 0) return;
  await sql`
    INSERT INTO index_change (partner_id, from_version, attribute_ids)
    VALUES (${partnerId}, ${ended.next_seq * 2}, ${ended.attribute_ids}::bigint[])`.execute(tx);
  const detail = { rows: ended.rows, attributes: ended.attribute_ids.length, device_days: ended.device_days };
  await sql`
    INSERT INTO audit_log (event, actor, partner_id, detail)
    VALUES ('device_retention.delete', audit_actor(), ${partnerId}, ${JSON.stringify(detail)}::jsonb)`.execute(tx);
}

/** Records the last positions of jobs that are about to be removed, because nothing else shows their age afterward. */
export async function recordForgotten(tx: Tx, isForgotten: RawBuilder<boolean>): Promise<void> {
  await sql`
    INSERT INTO device_retention (partner_id, forgotten_seq)
    SELECT partner_id, max(seq) FROM job WHERE ${isForgotten} GROUP BY partner_id ORDER BY partner_id
    ON CONFLICT (partner_id) DO UPDATE
      SET forgotten_seq = greatest(device_retention.forgotten_seq, excluded.forgotten_seq)`.execute(tx);
}

/** Schedules the first removal after the setting has changed. */
export async function scheduleRemoval(tx: Tx, partnerId: PartnerId): Promise<void> {
  await sql`
    INSERT INTO device_retention (partner_id, due_at)
    VALUES (${partnerId}, now() + make_interval(hours => ${hoursAfterChange}))
    ON CONFLICT (partner_id) DO UPDATE SET due_at = excluded.due_at WHERE NOT device_retention.is_removing`.execute(tx);
}

export async function selectRetentionState(db: Database, partnerId: PartnerId): Promise<DeviceRetentionState> {
  const row = await db
    .selectFrom('partner')
    .leftJoin('device_retention', 'device_retention.partner_id', 'partner.id')
    .select(['device_days', 'removed_rows', 'removed_at', 'due_at', 'failure', 'is_removing'])
    .where('partner.id', '=', partnerId)
    .executeTakeFirstOrThrow();
  const isActive = row.device_days !== null || row.is_removing === true;
  return {
    deviceDays: row.device_days,
    removedRows: row.removed_rows ?? 0,
    removedAt: row.removed_at,
    dueAt: isActive ? row.due_at : null,
    failure: row.failure,
  };
}
