import { sql } from 'kysely';
import type { Database } from '../connect.ts';

/** A holder of the lane who finds the stage gone counts nothing: whoever dropped it has counted and written before. */
export async function noteUploaded(db: Database, jobId: number, devices: ReadonlyMap<number, number>): Promise<void> {
  await sql`
    UPDATE job_file f SET uploaded_devices = greatest(f.uploaded_devices, o.devices)
    FROM unnest(${[...devices.keys()]}::bigint[], ${[...devices.values()]}::bigint[]) AS o (id, devices)
    WHERE f.id = o.id AND f.job_id = ${jobId}
  `.execute(db);
}
