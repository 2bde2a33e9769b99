import { sql } from 'kysely';
import type { BackupHistory, BackupRecord } from '../../ports/backup.ts';
import type { Database, Tx } from './db/tables.ts';

const columns = [
  'id',
  'started_at as startedAt',
  'finished_at as finishedAt',
  'taken_at as takenAt',
  'bytes',
  'destination',
  'failure',
] as const;

/** Enough for a backup every hour for more than a month. */
const kept = 1_000;

export function postgresBackupHistory(db: Database): BackupHistory {
  const newestFirst = () => db.selectFrom('backup').select(columns).orderBy('id', 'desc');
  return {
    // Runs in one transaction, so that a failed call leaves no record and can be repeated.
    record: (backup) => db.transaction().execute((tx) => insertRecord(tx, backup)),
    list: (limit) => newestFirst().limit(limit).execute(),
    findNewestComplete: async () =>
      (await newestFirst().where('failure', 'is', null).limit(1).executeTakeFirst()) ?? null,
  };
}

async function insertRecord(tx: Tx, backup: Omit<BackupRecord, 'id' | 'finishedAt'>): Promise<void> {
  await tx
    .insertInto('backup')
    .values({
      started_at: backup.startedAt,
      taken_at: backup.takenAt,
      bytes: backup.bytes,
      destination: backup.destination,
      failure: backup.failure,
    })
    .execute();
  await sql`
    DELETE FROM backup
    WHERE id <= (SELECT id FROM backup ORDER BY id DESC LIMIT 1 OFFSET ${kept})
      AND id IS DISTINCT FROM (SELECT max(id) FROM backup WHERE failure IS NULL)`.execute(tx);
}
