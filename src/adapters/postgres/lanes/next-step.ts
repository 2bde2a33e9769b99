import type { PgBoss } from 'pg-boss';
import { openStatuses } from '../../../domain/job.ts';
import type { LaneJob, LaneStep, LaneToken } from '../../../ports/lane-store.ts';
import { toKeyType } from '../codes.ts';
import type { Database, Tx } from '../connect.ts';
import { completeLaneToken, sendFileTokens } from '../dispatch.ts';

/**
 * One look at the lane under its locks. Whoever could wake the lane (a new job, a file that ended) takes one of the
 * same locks before it sends a token, so either we see what it did, or it sends after our token is given back:
 * no wake-up is lost.
 */
export async function nextStep(db: Database, boss: PgBoss, token: LaneToken, filesOut: number): Promise<LaneStep> {
  return db.transaction().execute(async (tx) => {
    const job = await lockOldestOpenJob(tx, token.partnerId);
    if (!job) {
      await completeLaneToken(boss, tx, token);
      return { do: 'rest' };
    }
    if (!job.isListed) return { do: 'prepare', job };
    const files = await firstOpenFiles(tx, job.id, filesOut);
    if (files.length === 0) return { do: 'finish', job };
    // Also for files that are out already: it changes nothing, and mends a file whose token was lost.
    await sendFileTokens(boss, tx, files);
    await completeLaneToken(boss, tx, token);
    return { do: 'rest' };
  });
}

async function lockOldestOpenJob(tx: Tx, partnerId: number): Promise<(LaneJob & { isListed: boolean }) | undefined> {
  const { prefix } = await tx
    .selectFrom('partner')
    .select('prefix')
    .where('id', '=', partnerId)
    .forUpdate()
    .executeTakeFirstOrThrow();
  const job = await tx
    .selectFrom('job')
    .select(['id', 'listed_at'])
    .where('partner_id', '=', partnerId)
    .where('status', 'in', openStatuses)
    .orderBy('seq')
    .limit(1)
    .forUpdate()
    .executeTakeFirst();
  if (!job) return undefined;
  const log = await tx
    .selectFrom('import_log')
    .select(['file_path', 'key_type', 'compressed'])
    .where('job_id', '=', job.id)
    .executeTakeFirstOrThrow();
  return {
    id: job.id,
    partnerId,
    prefix,
    filePath: log.file_path,
    keyType: toKeyType(log.key_type),
    compressed: log.compressed,
    isListed: job.listed_at !== null,
  };
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
