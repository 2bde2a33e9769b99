import { sql } from 'kysely';
import type { PgBoss } from 'pg-boss';
import { z } from 'zod';
import type { AudienceScope } from '../../../domain/audience.ts';
import { jobStatus, openStatuses } from '../../../domain/job.ts';
import type { Once } from '../../../domain/once.ts';
import type { RequestRecords } from '../requests/request-records.ts';
import type { Database, Tx } from '../connect.ts';
import { sendLaneToken } from '../dispatch.ts';
import { lockLane } from '../lanes/lock-lane.ts';
import { carryOutOnce } from '../requests/carry-out-once.ts';
import { findAudience, lockAudience } from './lock-audience.ts';

/**
 * A few rows, whatever the audience holds: the next generation begins empty, what the engine has of the one before is
 * noted to be purged, and its open jobs end. They end here, not later: whoever is at one of them finds it ended when it
 * wants to commit.
 */
export async function clearAudience(
  deps: { readonly db: Database; readonly boss: PgBoss; readonly requests: RequestRecords },
  scope: AudienceScope,
  audienceId: number,
  once: Once | null,
): Promise<boolean> {
  if (!(await findAudience(deps.db, scope, audienceId))) return false;
  return carryOutOnce(deps, { partnerId: scope.partnerId, once, result: z.literal(true) }, async (tx) => {
    // The lane before the audience, as an append does it; and the lane sees either the cancelled jobs or the new token.
    await lockLane(tx, scope.partnerId);
    const { generation } = await lockAudience(tx, scope, audienceId);
    await tx
      .updateTable('audience')
      .set({
        generation: generation + 1,
        uploaded_devices: 0,
        unique_devices: 0,
        matched_devices: 0,
        last_load_id: null,
        updated_at: sql`now()`,
      })
      .where('id', '=', audienceId)
      .execute();
    await tx
      .insertInto('dead_generation')
      .values({ audience_id: audienceId, generation, partner_id: scope.partnerId })
      .execute();
    await cancelJobs(tx, scope.partnerId, audienceId);
    await sendLaneToken(deps.boss, tx, scope.partnerId);
    return true;
  });
}

/** Looked for among the partner's open jobs, which are few. One that had listed no files has left nothing to clean. */
async function cancelJobs(tx: Tx, partnerId: number, audienceId: number): Promise<void> {
  await tx
    .updateTable('job')
    .set({
      status: jobStatus.failed,
      cancelled: true,
      finished_at: sql`now()`,
      updated_at: sql`now()`,
      cleaned_at: sql`CASE WHEN listed_at IS NULL THEN now() END`,
    })
    .where('partner_id', '=', partnerId)
    .where('status', 'in', openStatuses)
    .where('id', 'in', (eb) => eb.selectFrom('audience_load').select('job_id').where('audience_id', '=', audienceId))
    .execute();
}
