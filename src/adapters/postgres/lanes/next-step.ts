import type { PgBoss } from 'pg-boss';
import { openStatuses } from '../../../domain/job.ts';
import type { LaneJob, LaneStep, LaneToken } from '../../../ports/lane-store.ts';
import { toImportMode, toJobKind, toKeyType, toPathType } from '../codes.ts';
import type { Database, Tx } from '../connect.ts';
import { completeLaneToken, sendFileTokens } from '../dispatch.ts';

/**
 * One look at the lane under its locks. Whoever could wake the lane (a new job, a file that ended) takes one of the
 * same locks before it sends a token, so either we see what it did, or it sends after our token is given back:
 * no wake-up is lost.
 */
export async function nextStep(db: Database, boss: PgBoss, token: LaneToken, filesOut: number): Promise<LaneStep> {
  return db.transaction().execute(async (tx) => {
    const found = await lockOldestOpenJob(tx, token.partnerId);
    if (!found) {
      await completeLaneToken(boss, tx, token);
      return { do: 'rest' };
    }
    if (!found.isStarted) return { do: 'prepare', job: found.job };
    const files = await firstOpenFiles(tx, found.job.id, filesOut);
    if (files.length === 0) return { do: 'finish', job: found.job };
    // Also for files that are out already: it changes nothing, and mends a file whose token was lost.
    await sendFileTokens(boss, tx, files);
    await completeLaneToken(boss, tx, token);
    return { do: 'rest' };
  });
}

async function lockOldestOpenJob(tx: Tx, partnerId: number): Promise<{ job: LaneJob; isStarted: boolean } | null> {
  const { prefix } = await tx
    .selectFrom('partner')
    .select('prefix')
    .where('id', '=', partnerId)
    .forNoKeyUpdate() // as strong as a new job's UPDATE, but not in the way of rows that refer to the partner
    .executeTakeFirstOrThrow();
  const row = await tx
    .selectFrom('job')
    .innerJoin('import_log as log', 'log.job_id', 'job.id')
    .select(['job.id', 'job.kind', 'job.seq', 'job.listed_at'])
    .select(['log.file_path', 'log.path_type', 'log.key_type', 'log.compressed', 'log.mode', 'log.attribute_ids'])
    .where('job.partner_id', '=', partnerId)
    .where('job.status', 'in', openStatuses)
    .orderBy('job.seq')
    .limit(1)
    .forUpdate('job')
    .executeTakeFirst();
  if (!row) return null;
  const job: LaneJob = {
    id: row.id,
    kind: toJobKind(row.kind),
    partnerId,
    seq: row.seq,
    source: { jobId: row.id, partnerId, pathType: toPathType(row.path_type), filePath: row.file_path },
    prefix,
    keyType: toKeyType(row.key_type),
    compressed: row.compressed,
    mode: toImportMode(row.mode),
    attributeIds: row.attribute_ids ?? [],
  };
  return { job, isStarted: row.listed_at !== null };
}

async function firstOpenFiles(tx: Tx, jobId: number, limit: number): Promise<number[]> {
  const files = await tx
    .selectFrom('job_file')
    .select('id')
    .where('job_id', '=', jobId)
    .where('status', 'in', openStatuses)
    .orderBy('id')
    .limit(limit)
    .execute();
  return files.map(({ id }) => id);
}
