import type { Fold, FoldedBlocks } from '../../../ports/device-index.ts';
import { isStandIn, standInScope } from '../stand-in-sql.ts';
import { collectDevices, contentOf, hasLease, leaseParameters } from './device-numbers.ts';
import type { Session } from './session.ts';

const table = 'known_devices_local';

/** A condition that selects the bitmaps of all known devices. */
export const isKnownDevices = 'partner_id = 0 AND attribute_id = 0';

/**
 * Adds the known devices of all parts that have not been folded yet. A merged part is folded again unless all of its
 * blocks have been folded. Inserts do not always finish in the order of their block numbers, so the highest folded
 * block alone would not be enough.
 */
export async function foldKnownDevices(
  session: Session,
  fold: Fold,
  folded: FoldedBlocks | undefined,
): Promise<FoldedBlocks> {
  const current = await readBlocks(session);
  const isSameTable = folded?.table === current.table;
  const earlier = isSameTable ? folded.blocks : [];
  const isCovered = ([first, last]: readonly [number, number]): boolean =>
    earlier.some(([from, to]) => from <= first && last <= to);
  const covered = current.parts.filter(({ blocks }) => isCovered(blocks));
  if (isSameTable && covered.length === current.parts.length) return folded;
  const devices = {
    // A part that is merged in the meantime has a different name and is read again.
    query: `SELECT device FROM ${table} WHERE _part NOT IN ({covered: Array(String)})
      AND NOT ${isStandIn(standInScope.known)} ORDER BY device LIMIT 1 BY device`,
    parameters: { covered: covered.map(({ name }) => name) },
    size: current.parts.filter(({ blocks }) => !isCovered(blocks)).reduce((sum, { rows }) => sum + rows, 0),
  };
  await collectDevices(session, fold, devices);
  const earlierBitmaps = `SELECT chunk, ${isSameTable ? 'devices' : 'bitmapAndnot(devices, devices)'} AS bitmap
    FROM attribute_bitmaps_local FINAL WHERE ${isKnownDevices}`;
  await session.run(
    `INSERT INTO attribute_bitmaps_local (partner_id, attribute_id, country, id_type, chunk, devices, content, fold_id)
     SELECT 0, 0, '', 0, chunk, merged, ${contentOf('merged')}, {fold: UInt64} FROM (
       SELECT chunk, groupBitmapMergeState(bitmap) AS merged FROM (
         SELECT chunk, devices AS bitmap FROM changed_devices UNION ALL ${earlierBitmaps}
       ) GROUP BY chunk
     ) WHERE ${hasLease}`,
    { parameters: leaseParameters(fold) },
  );
  return { table: current.table, blocks: joinRanges([...earlier, ...current.parts.map(({ blocks }) => blocks)]) };
}

type Part = { readonly name: string; readonly blocks: readonly [number, number]; readonly rows: number };

/**
 * A replicated table is identified by its path in Keeper, because its replicas have the same path and the same parts
 * but different UUIDs.
 */
async function readBlocks(session: Session): Promise<{ readonly table: string; readonly parts: readonly Part[] }> {
  const [found] = await session.rows<{ identity: string }>(
    `SELECT coalesce((SELECT any(zookeeper_path) FROM system.replicas WHERE database = currentDatabase() AND table = '${table}' HAVING count() > 0),
       (SELECT toString(uuid) FROM system.tables WHERE database = currentDatabase() AND name = '${table}')) AS identity`,
  );
  const parts = await session.rows<{ name: string; first: string; last: string; rows: string }>(
    `SELECT name, toString(min_block_number) AS first, toString(max_block_number) AS last, toString(rows) AS rows
     FROM system.parts WHERE active AND database = currentDatabase() AND table = '${table}'`,
  );
  return {
    table: found?.identity ?? '',
    parts: parts.map(({ name, first, last, rows }) => ({
      name,
      blocks: [Number(first), Number(last)],
      rows: Number(rows),
    })),
  };
}

/** Joins overlapping and adjacent ranges. */
export function joinRanges(ranges: readonly (readonly [number, number])[]): [number, number][] {
  const joined: [number, number][] = [];
  for (const [first, last] of ranges.toSorted(([one], [other]) => one - other)) {
    const previous = joined.at(-1);
    if (previous && first <= previous[1] + 1) previous[1] = Math.max(previous[1], last);
    else joined.push([first, last]);
  }
  return joined;
}
