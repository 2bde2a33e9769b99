import { sql } from 'kysely';
import { fromKysely, type PgBoss } from 'pg-boss';
import { openStatuses } from '../../../domain/job.ts';
import type { Database } from '../connect.ts';
import { laneQueue, laneToken } from '../dispatch.ts';

const everySeconds = 10;

/**
 * Sends the tokens that are missing, in one statement, and once per period however many workers ask: the first to
 * move the time does it.
 */
export async function wakeLanes(db: Database, boss: PgBoss): Promise<number> {
  return db.transaction().execute(async (tx) => {
    const due = await tx
      .insertInto('sweep')
      .values({ name: laneQueue, ran_at: sql<Date>`now()` })
      .onConflict((conflict) =>
        conflict
          .column('name')
          .doUpdateSet({ ran_at: sql<Date>`now()` })
          .where('sweep.ran_at', '<', sql<Date>`now() - make_interval(secs => ${everySeconds - 1})`),
      )
      .returning('name')
      .executeTakeFirst();
    if (!due) return 0;
    const lanes = await tx
      .selectFrom('job')
      .select('partner_id')
      .distinct()
      .where('status', 'in', openStatuses)
      .execute();
    if (lanes.length > 0) {
      await boss.insert(
        laneQueue,
        lanes.map(({ partner_id }) => laneToken(partner_id)),
        { db: fromKysely(tx) },
      );
    }
    return lanes.length;
  });
}
