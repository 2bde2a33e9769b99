import { sql } from 'kysely';
import type { SuppressionRecords } from '../../ports/suppression.ts';
import { openStatuses } from '../../domain/job.ts';
import type { Database } from './db/tables.ts';
import { oldestRepair } from './db/repairs.ts';

export function postgresSuppressionRecords(db: Database): SuppressionRecords {
  return {
    read: async () => {
      const row = await db.selectFrom('suppression').selectAll().executeTakeFirstOrThrow();
      const { version, hashes, content: checksum, stand_in_key: standInKey, changed_at: changedAt } = row;
      return { version, hashes, checksum, standInKey, changedAt };
    },
    reserveVersion: async () => {
      const { last_version } = await db
        .updateTable('suppression')
        .set({ last_version: sql`last_version + 1` })
        .returning('last_version')
        .executeTakeFirstOrThrow();
      return last_version;
    },
    setCurrent: ({ version, hashes, checksum }, { event, actor, entries }) =>
      db.transaction().execute(async (tx) => {
        await tx
          .updateTable('suppression')
          .set({ version, hashes, content: checksum, changed_at: sql`now()` })
          .where('version', '<', version)
          .returning('version')
          .executeTakeFirstOrThrow();
        const detail = JSON.stringify({ version, hashes, checksum, entries });
        await sql`INSERT INTO audit_log (event, actor, detail) VALUES (${event}, ${actor}, ${detail}::jsonb)`.execute(
          tx,
        );
      }),
    countOutdatedJobs: async () => {
      const { count } = await db
        .selectFrom('job')
        .select(sql<number>`count(*)`.as('count'))
        .where((eb) =>
          eb.or([
            eb.and([
              eb('status', 'in', openStatuses),
              eb.exists(
                eb
                  .selectFrom('load_account as account')
                  .innerJoin('suppression as list', (join) => join.onTrue())
                  .select('account.load_id')
                  .whereRef('account.job_id', '=', 'job.id')
                  .whereRef('account.suppression_version', '<', 'list.version'),
              ),
            ]),
            // The job has ended, but its files are being loaded again. A repair that was killed leaves its record.
            eb.exists(
              eb
                .selectFrom('repair_load as repair')
                .innerJoin('suppression as list', (join) => join.onTrue())
                .select('repair.load_id')
                .whereRef('repair.job_id', '=', 'job.id')
                .whereRef('repair.started_at', '<', 'list.changed_at')
                .where('repair.started_at', '>', oldestRepair),
            ),
          ]),
        )
        .executeTakeFirstOrThrow();
      return count;
    },
  };
}
