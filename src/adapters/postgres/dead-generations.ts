import type { PartnerId } from '../../domain/ids.ts';
import { sql } from 'kysely';
import type { DeadGeneration } from '../../ports/audience-store.ts';
import type { Generation } from '../../ports/warehouse.ts';
import { tryStartWork } from './lane/lane-store.ts';
import type { Database } from './db/tables.ts';

/** The time of the second check. By then, delayed statements have written their rows to the dead generation. */
const recheckAfter = sql<Date>`dead_at + interval '1 hour'`;

/** The row in `sweep` that records the claim of the running purge, or the pause that follows it. */
const turn = 'purge generations';

/** The time at which a claim expires unless it is renewed. */
const claimEnd = sql<Date>`now() + interval '2 minutes'`;

/**
 * The pause after a purge, as a multiple of the purge's duration. A mutation renames every part of the table, so the
 * pause limits the load that purging causes. Meanwhile, more generations accumulate for the next purge.
 */
const pausePerPurge = 3;

export async function claimDueGenerations(db: Database, limit: number): Promise<DeadGeneration[]> {
  return db.transaction().execute(async (tx) => {
    // A generation that is cleared during a backup cut is still live in the backup.
    if (!(await tryStartWork(tx))) return [];
    const { rows } = await sql<DeadRow>`
      WITH due AS (
        SELECT * FROM dead_generation WHERE purged_at IS NULL AND check_at <= now() ORDER BY check_at LIMIT ${limit}
      ), claimed AS (
        INSERT INTO sweep (name, ran_at, next_at) SELECT ${turn}, now(), ${claimEnd} WHERE EXISTS (SELECT FROM due)
        ON CONFLICT (name) DO UPDATE SET ran_at = excluded.ran_at, next_at = excluded.next_at
          WHERE sweep.next_at IS NULL OR sweep.next_at <= now()
        RETURNING name
      )
      SELECT due.* FROM due CROSS JOIN claimed
    `.execute(tx);
    return rows.map(toDeadGeneration);
  });
}

export async function renewPurgeClaim(db: Database): Promise<void> {
  await db.updateTable('sweep').set({ next_at: claimEnd }).where('name', '=', turn).execute();
}

/** Releases the claim, whether or not the purge succeeded. */
export async function endPurge(db: Database, seconds: number): Promise<void> {
  await db
    .updateTable('sweep')
    .set({ next_at: sql<Date>`now() + make_interval(secs => ${seconds * pausePerPurge})` })
    .where('name', '=', turn)
    .execute();
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
 * Records the results of a check. The first check runs immediately and the second an hour later. After the second check,
 * the purge is complete.
 */
export async function recordPurges(
  db: Database,
  purged: readonly (Generation & { readonly rows: number })[],
): Promise<void> {
  if (purged.length === 0) return;
  await sql`
    UPDATE dead_generation d SET
      purged_rows = purged_rows + checked.rows,
      purged_at = CASE WHEN now() >= ${recheckAfter} THEN now() END,
      check_at = greatest(now(), ${recheckAfter})
    FROM unnest(
      ${purged.map(({ audienceId }) => audienceId)}::bigint[], ${purged.map(({ generation }) => generation)}::int[],
      ${purged.map(({ rows }) => rows)}::bigint[]
    ) AS checked (audience_id, generation, rows)
    WHERE d.audience_id = checked.audience_id AND d.generation = checked.generation
  `.execute(db);
}

export async function postponePurges(db: Database, generations: readonly Generation[], seconds: number): Promise<void> {
  if (generations.length === 0) return;
  await sql`
    UPDATE dead_generation d SET check_at = now() + make_interval(secs => ${seconds})
    FROM unnest(
      ${generations.map(({ audienceId }) => audienceId)}::bigint[],
      ${generations.map(({ generation }) => generation)}::int[]
    ) AS waiting (audience_id, generation)
    WHERE d.audience_id = waiting.audience_id AND d.generation = waiting.generation
  `.execute(db);
}
