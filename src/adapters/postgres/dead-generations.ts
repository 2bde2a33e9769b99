import type { PartnerId } from '../../domain/ids.ts';
import { sql } from 'kysely';
import type { DeadGeneration } from '../../ports/audience-store.ts';
import type { Generation } from '../../ports/warehouse.ts';
import { tryStartWork } from './lane/lane-store.ts';
import { advisoryLocks } from './db/advisory-locks.ts';
import type { Database } from './db/tables.ts';

/** The time of the second check. By then, delayed statements have written their rows to the dead generation. */
const recheckAfter = sql<Date>`dead_at + interval '1 hour'`;

/** The time at which a purge claim expires unless it is renewed. */
const lease = sql<Date>`now() + interval '2 minutes'`;

/**
 * After a purge, the partner's next purge waits this many times the duration of that purge. The wait limits how often
 * data is rewritten.
 */
const pausePerPurge = 10;

export async function claimDueGenerations(db: Database, limit: number): Promise<DeadGeneration[]> {
  return db.transaction().execute(async (tx) => {
    // A generation that is cleared during a backup cut is still live in the backup.
    if (!(await tryStartWork(tx))) return [];
    await sql`SELECT pg_advisory_xact_lock(${advisoryLocks.purge})`.execute(tx);
    const { rows } = await sql<DeadRow>`
      WITH due AS (
        SELECT d.audience_id, d.generation, d.partner_id
        FROM dead_generation d JOIN partner p ON p.id = d.partner_id
        WHERE d.purged_at IS NULL AND d.check_at <= now() AND p.purge_after <= now()
          AND NOT EXISTS (SELECT FROM dead_generation WHERE purged_at IS NULL AND purging_until > now())
        ORDER BY d.check_at LIMIT ${limit}
      )
      UPDATE dead_generation d SET purging_until = ${lease}
      FROM due
      WHERE d.audience_id = due.audience_id AND d.generation = due.generation
      RETURNING d.*
    `.execute(tx);
    return rows.map(toDeadGeneration);
  });
}

export async function renewPurgeLease(db: Database, partnerIds: readonly PartnerId[]): Promise<void> {
  await db
    .updateTable('dead_generation')
    .set({ purging_until: lease })
    .where('partner_id', 'in', partnerIds)
    .where('purged_at', 'is', null)
    .where('purging_until', 'is not', null)
    .execute();
}

/** Releases the claim, whether or not the purge succeeded. */
export async function endPurge(db: Database, partnerIds: readonly PartnerId[], seconds: number): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await tx
      .updateTable('partner')
      .set({ purge_after: sql<Date>`now() + make_interval(secs => ${seconds * pausePerPurge})` })
      .where('id', 'in', partnerIds)
      .execute();
    await tx
      .updateTable('dead_generation')
      .set({ purging_until: null })
      .where('partner_id', 'in', partnerIds)
      .where('purging_until', 'is not', null)
      .execute();
  });
}

export async function selectDead(db: Database, limit: number): Promise<DeadGeneration[]> {
  const rows = await db.selectFrom('dead_generation').selectAll().orderBy('dead_at', 'desc').limit(limit).execute();
  return rows.map(toDeadGeneration);
}

type DeadRow = {
  partner_id: PartnerId;
  audience_id: number;
  generation: number;
  dead_at: Date;
  purged_rows: number;
  purged_at: Date | null;
};

function toDeadGeneration(row: DeadRow): DeadGeneration {
  return {
    partnerId: row.partner_id,
    audienceId: row.audience_id,
    generation: row.generation,
    deadAt: row.dead_at,
    purgedRows: row.purged_rows,
    purgedAt: row.purged_at,
  };
}

/**
 * Records the result of a check. The first check runs immediately and the second an hour later. After the second check,
 * the purge is complete.
 */
export async function recordPurge(db: Database, { audienceId, generation }: Generation, rows: number): Promise<void> {
  await db
    .updateTable('dead_generation')
    .set({
      purged_rows: sql`purged_rows + ${rows}`,
      purged_at: sql`CASE WHEN now() >= ${recheckAfter} THEN now() END`,
      check_at: sql`greatest(now(), ${recheckAfter})`,
    })
    .where('audience_id', '=', audienceId)
    .where('generation', '=', generation)
    .execute();
}
