import type { PgBoss } from 'pg-boss';
import { openStatuses } from '../../../domain/job.ts';
import type { Database } from '../connect.ts';
import { sendLaneToken } from '../dispatch.ts';

export async function wakeLanes(db: Database, boss: PgBoss): Promise<number> {
  const lanes = await db
    .selectFrom('job')
    .select('partner_id')
    .distinct()
    .where('status', 'in', openStatuses)
    .execute();
  for (const { partner_id } of lanes) {
    await db.transaction().execute((tx) => sendLaneToken(boss, tx, partner_id));
  }
  return lanes.length;
}
