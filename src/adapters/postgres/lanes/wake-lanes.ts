import { fromKysely, type PgBoss } from 'pg-boss';
import { openStatuses } from '../../../domain/job.ts';
import type { Database } from '../connect.ts';
import { laneQueue, laneToken } from '../dispatch.ts';

/** Sends the tokens that are missing in one statement; those that are there make it a no-op. */
export async function wakeLanes(db: Database, boss: PgBoss): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const lanes = await tx
      .selectFrom('job')
      .select('partner_id')
      .distinct()
      .where((eb) =>
        eb.or([eb('status', 'in', openStatuses), eb.and([eb('cancelled', '=', true), eb('cleaned_at', 'is', null)])]),
      )
      .execute();
    const tokens = lanes.map(({ partner_id }) => laneToken(partner_id));
    if (tokens.length > 0) await boss.insert(laneQueue, tokens, { db: fromKysely(tx) });
  });
}
