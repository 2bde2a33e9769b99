import { selectOnShards } from './shard-tables.ts';
import type { TestStores } from './stores.ts';

export type BruteSplit = 'none' | 'id_type' | 'country' | 'event';

/** Devices per cell, keyed by `attribute value`. */
type Cells = ReadonlyMap<string, number>;

export type BruteCounts = {
  readonly matched: number;
  readonly known: number;
  readonly devices: (split: BruteSplit) => Cells;
  readonly warehouse: (split: BruteSplit) => Cells;
};

/**
 * Computes the report with only hash tables and exact sets. Unlike the service, it neither relies on any order nor
 * merges sorted data.
 */
export async function countByBruteForce(stores: TestStores, audienceId: number): Promise<BruteCounts> {
  const audience = `SELECT DISTINCT device, event FROM audience_devices_local WHERE audience_id = ${audienceId} AND generation = 0`;
  const live = `SELECT attribute_id, device, argMax(id_type, version) AS id_type, argMax(country, version) AS country
    FROM device_attributes_local GROUP BY attribute_id, device HAVING argMax(is_deleted, version) = 0`;
  const known = 'device IN (SELECT device FROM known_devices_local)';
  const total = async (query: string): Promise<number> =>
    (await selectOnShards(stores, query)).reduce((sum, line) => sum + Number(line), 0);
  const rows = await selectOnShards(
    stores,
    `SELECT attribute_id, id_type, country, count(), countIf(device IN (SELECT device FROM (${audience})) AND ${known})
     FROM (${live}) GROUP BY 1, 2, 3`,
  );
  const events = await selectOnShards(
    stores,
    `SELECT attribute_id, event, '', 0, uniqExact(device) FROM (${live}) AS t INNER JOIN (${audience}) AS a USING (device)
     WHERE ${known} GROUP BY 1, 2 SETTINGS join_algorithm = 'hash'`,
  );
  return {
    matched: await total(`SELECT uniqExact(device) FROM (${audience}) WHERE ${known}`),
    known: await total('SELECT uniqExact(device) FROM known_devices_local'),
    devices: (split) => addUp(split === 'event' ? events : rows, split, 4),
    // The warehouse stores no events.
    warehouse: (split) => addUp(rows, split === 'event' ? 'none' : split, 3),
  };
}

/** Parses lines with attribute, ID type or event, country, warehouse count, and member count. */
function addUp(lines: readonly string[], split: BruteSplit, column: 3 | 4): Cells {
  const sums = new Map<string, number>();
  for (const line of lines) {
    const fields = line.split('\t');
    const value = { none: '', id_type: fields[1], event: fields[1], country: fields[2] }[split] ?? '';
    const cell = `${fields[0]} ${value}`;
    sums.set(cell, (sums.get(cell) ?? 0) + Number(fields[column]));
  }
  return sums;
}
