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
    isStillMine: async ({ load, attempt }) =>
      (await db
        .selectFrom('job_file')
        .innerJoin('job', 'job.id', 'job_file.job_id')
        .select('job_file.id')
        .where('job_file.id', '=', load.fileId)
        .where('job_file.attempt', '=', attempt)
        .where('job_file.status', '=', jobStatus.running)
        .where('job.cancelled', '=', false)
        .executeTakeFirst()) !== undefined,
    commitLoaded: (claim, counts) => commitFile(db, boss, claim, { counts, failure: null }),
    commitFailed: (claim, failure, counts) => commitFile(db, boss, claim, { counts, failure }),
    findLive: (staged) => selectLive(db, staged),
  };
}
