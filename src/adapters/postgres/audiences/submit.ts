import { sql } from 'kysely';
import type { PgBoss } from 'pg-boss';
import type { AudienceScope } from '../../../domain/audience.ts';
import { jobKind } from '../../../domain/job.ts';
import type { NewAudienceLoad } from '../../../ports/audience-store.ts';
import type { Database, Tx } from '../connect.ts';
import { submitJob } from '../lanes/submit-job.ts';
import { supersedeLoads } from '../lanes/supersede.ts';
import { findAudience, lockAudience } from './lock-audience.ts';

type Deps = { readonly db: Database; readonly boss: PgBoss };

export async function createAudience(
  { db, boss }: Deps,
  { partnerId, customerId }: AudienceScope,
  { name, filePath, maxOpenJobs }: NewAudienceLoad & { readonly name: string },
): Promise<{ audienceId: number; warehouseSegmentId: number }> {
  return db.transaction().execute((tx) =>
    submitJob(boss, tx, partnerId, { kind: jobKind.audience, maxOpenJobs }, async (jobId) => {
      const made = await tx
        .insertInto('audience')
        .values({ partner_id: partnerId, customer_id: customerId, name })
        .returning(['id', 'warehouse_segment_id', 'generation'])
        .executeTakeFirstOrThrow();
      await insertLoad(tx, { jobId, partnerId, audienceId: made.id, generation: made.generation, filePath });
      return { audienceId: made.id, warehouseSegmentId: made.warehouse_segment_id };
    }),
  );
}

/** The load belongs to the generation that is live when it is asked for: a clear that comes later cancels it. */
export async function appendToAudience(
  { db, boss }: Deps,
  scope: AudienceScope,
  audienceId: number,
  { filePath, maxOpenJobs }: NewAudienceLoad,
): Promise<number | null> {
  const { partnerId } = scope;
  return db.transaction().execute(async (tx) => {
    if (!(await findAudience(tx, scope, audienceId))) return null;
    // The lane before the audience: whoever locks both does it in this order.
    return submitJob(boss, tx, partnerId, { kind: jobKind.audience, maxOpenJobs }, async (jobId) => {
      const { generation } = await lockAudience(tx, scope, audienceId);
      await supersedeLoads(tx, { id: jobId, audienceId, generation }, [filePath]);
      await insertLoad(tx, { jobId, partnerId, audienceId, generation, filePath });
      await tx
        .updateTable('audience')
        .set({ updated_at: sql`now()` })
        .where('id', '=', audienceId)
        .execute();
      return jobId;
    });
  });
}

type NewLoad = {
  readonly jobId: number;
  readonly partnerId: number;
  readonly audienceId: number;
  readonly generation: number;
  readonly filePath: string;
};

async function insertLoad(tx: Tx, load: NewLoad): Promise<void> {
  await tx
    .insertInto('audience_load')
    .values({
      job_id: load.jobId,
      partner_id: load.partnerId,
      audience_id: load.audienceId,
      generation: load.generation,
      file_path: load.filePath,
    })
    .execute();
}
