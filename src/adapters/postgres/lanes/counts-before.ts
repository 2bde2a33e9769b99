import { sql } from 'kysely';
import type { CountsBefore } from '../../../ports/lane-store.ts';
import type { Tx } from '../connect.ts';

/**
 * Read before anything is counted: the version is noted with the counts, and whatever an import brings while they are
 * counted makes them old.
 */
export async function countsBefore(tx: Tx, audienceId: number): Promise<CountsBefore> {
  const { rows } = await sql<{ unique_devices: number; matched_devices: number; version: number; known: number }>`
    SELECT unique_devices, matched_devices, matched_version AS version,
      (SELECT last_value FROM known_devices_version) AS known
    FROM audience WHERE id = ${audienceId}
  `.execute(tx);
  const [row] = rows;
  if (!row) throw new Error(`audience ${audienceId} is not there`);
  return {
    unique: row.unique_devices,
    matched: row.matched_devices,
    knownVersion: row.known,
    isMatchedCurrent: row.version === row.known,
  };
}
