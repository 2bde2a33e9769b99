import { sql } from 'kysely';
import type { PgBoss } from 'pg-boss';
import { jobStatus } from '../../domain/job.ts';
import type { FileStore } from '../../ports/file-store.ts';
import type { Database } from './connect.ts';
import { claimFile } from './files/claim-file.ts';
import { commitFile } from './files/commit-file.ts';
import { selectLive } from './files/select-live.ts';

export function postgresFileStore(db: Database, boss: PgBoss): FileStore {
  return {
    claim: (fileId) => claimFile(db, fileId),
    markStaged: async ({ load, attempt }) => {
      const marked = await db
        .updateTable('job_file')
        .from('job')
        .set({ staged: true })
        .whereRef('job.id', '=', 'job_file.job_id')
        .where('job_file.id', '=', load.fileId)
        .where('job_file.attempt', '=', attempt)
        .where('job_file.status', '=', jobStatus.running)
        .where('job.cancelled', '=', false)
        .returning('job_file.id')
        .executeTakeFirst();
      return marked !== undefined;
    },
    noteProgress: async ({ load, attempt }, read) => {
      await db
        .updateTable('job_file')
        .set({
          bytes_read: sql`greatest(bytes_read, ${read.bytes}::bigint)`,
          rows_read: sql`greatest(rows_read, ${read.rows}::bigint)`,
        })
        .where('id', '=', load.fileId)
        .where('attempt', '=', attempt)
        .where('status', '=', jobStatus.running)
        .execute();
    },
    commitLoaded: (claim, counts) => commitFile(db, boss, claim, { counts, failure: null }),
    commitFailed: (claim, failure, counts) => commitFile(db, boss, claim, { counts, failure }),
    findLive: (staged) => selectLive(db, staged),
  };
}
