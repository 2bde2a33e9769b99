import { sql } from 'kysely';
import type { Database } from '../connect.ts';

/** The first to move the time has the turn, however many workers ask. */
export async function takeTurn(db: Database, task: string, everySeconds: number): Promise<boolean> {
  const taken = await db
    .insertInto('sweep')
    .values({ name: task, ran_at: sql<Date>`now()` })
    .onConflict((conflict) =>
      conflict
        .column('name')
        .doUpdateSet({ ran_at: sql<Date>`now()` })
        .where('sweep.ran_at', '<', sql<Date>`now() - make_interval(secs => ${everySeconds - 1})`),
    )
    .returning('name')
    .executeTakeFirst();
  return taken !== undefined;
}
