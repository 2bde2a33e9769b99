import type { Database } from '../connect.ts';
import { markStarted } from './mark-started.ts';

export async function startDelete(
  db: Database,
  jobId: number,
  found: { rows: number; devices: number },
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    if (!(await markStarted(tx, jobId))) return;
    await tx
      .updateTable('import_log')
      .set({ total_rows: found.rows, unique_devices: found.devices })
      .where('job_id', '=', jobId)
      .execute();
  });
}
