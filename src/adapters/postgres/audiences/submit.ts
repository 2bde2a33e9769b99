import { sql } from 'kysely';
import type { PgBoss } from 'pg-boss';
import { z } from 'zod';
import type { AudienceScope } from '../../../domain/audience.ts';
import { jobKind } from '../../../domain/job.ts';
import type { Once } from '../../../domain/once.ts';
import type { NewAudienceLoad } from '../../../ports/audience-store.ts';
import type { RequestRecords } from '../requests/request-records.ts';
import type { Database, Tx } from '../connect.ts';
import { submitJob } from '../lanes/submit-job.ts';
import { supersedeLoads } from '../lanes/supersede.ts';
import { carryOutOnce } from '../requests/carry-out-once.ts';
import { findAudience, lockAudience } from './lock-audience.ts';

type Deps = { readonly db: Database; readonly boss: PgBoss; readonly requests: RequestRecords };

const madeSchema = z.object({ audienceId: z.int(), warehouseSegmentId: z.int() });

export async function createAudience(
  deps: Deps,
  { partnerId, customerId }: AudienceScope,
  { name, filePath, maxOpenJobs }: NewAudienceLoad & { readonly name: string },
  once: Once | null,
): Promise<{ audienceId: number; warehouseSegmentId: number }> {
  return carryOutOnce(deps, { partnerId, once, result: madeSchema }, (tx) =>
    submitJob(deps.boss, tx, partnerId, { kind: jobKind.audience, maxOpenJobs }, async (jobId) => {
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
  deps: Deps,
  scope: AudienceScope,
  audienceId: number,
  { filePath, maxOpenJobs }: NewAudienceLoad,
  once: Once | null,
): Promise<number | null> {
  const { partnerId } = scope;
  if (!(await findAudience(deps.db, scope, audienceId))) return null;
  return carryOutOnce(deps, { partnerId, once, result: z.int() }, (tx) =>
    // The lane before the audience: whoever locks both does it in this order.
    submitJob(deps.boss, tx, partnerId, { kind: jobKind.audience, maxOpenJobs }, async (jobId) => {
      const { generation } = await lockAudience(tx, scope, audienceId);
      await supersedeLoads(tx, { id: jobId, audienceId, generation }, [filePath]);
      await insertLoad(tx, { jobId, partnerId, audienceId, generation, filePath });
      await tx
        .updateTable('audience')
        .set({ updated_at: sql`now()` })
        .where('id', '=', audienceId)
        .execute();
      return jobId;
    }),
  );
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
