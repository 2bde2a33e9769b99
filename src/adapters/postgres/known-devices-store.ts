import { sql } from 'kysely';
import type { Secret } from '../../domain/secret.ts';
import type { KnownDevicesStore } from '../../ports/known-devices.ts';
import { betweenMigrations } from './db/migration-lock.ts';
import type { Database } from './db/tables.ts';
import { noteKnownDevices } from './index-store.ts';

/** The row in `sweep` that records when the last rebuild ended. */
export const rebuiltKnownDevices = 'known devices rebuilt';

export function postgresKnownDevicesStore(db: Database, url: Secret): KnownDevicesStore {
  return {
    isRebuildDue: (days) => isRebuildDue(db, days),
    advance: async () => {
      await sql`SELECT nextval('known_devices_version')`.execute(db);
      await noteKnownDevices(db);
    },
    recordRebuild: async () => {
      const ran_at = sql<Date>`now()`;
      await db
        .insertInto('sweep')
        .values({ name: rebuiltKnownDevices, ran_at })
        .onConflict((conflict) => conflict.column('name').doUpdateSet({ ran_at }))
        .execute();
    },
    runBetweenMigrations: (run, signal) => betweenMigrations(url, run, signal),
  };
}

/** The first call records the time, so that a new installation does not start with a rebuild. */
async function isRebuildDue(db: Database, days: number): Promise<boolean> {
  const row = await db
    .selectFrom('sweep')
    .select(sql<boolean>`ran_at < now() - make_interval(days => ${days})`.as('is_due'))
    .where('name', '=', rebuiltKnownDevices)
    .executeTakeFirst();
  if (row) return row.is_due;
  await db
    .insertInto('sweep')
    .values({ name: rebuiltKnownDevices, ran_at: sql<Date>`now()` })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return false;
}
