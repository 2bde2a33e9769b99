import type { PgBoss } from 'pg-boss';
import type { FileStore } from '../../ports/file-store.ts';
import type { Database } from './connect.ts';
import { claimBatch } from './files/claim-batch.ts';
import { commitBatch } from './files/commit-batch.ts';
import { noteProgress } from './files/note-progress.ts';
import { selectLive } from './files/select-live.ts';

/** `filesOut`: batches of one partner that may be loading at a time. */
export function postgresFileStore(db: Database, boss: PgBoss, filesOut: number): FileStore {
  return {
    claim: (batchId) => claimBatch(db, batchId),
    noteProgress: (claim, read) => noteProgress(db, claim, read),
    commit: (claim, outcomes) => commitBatch(db, boss, claim, outcomes, filesOut),
    findLive: (staged) => selectLive(db, staged),
  };
}
