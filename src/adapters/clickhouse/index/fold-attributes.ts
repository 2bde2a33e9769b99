import type { ClickHouseSettings } from '@clickhouse/client';
import type { ChangedAttributes, Fold } from '../../../ports/device-index.ts';
import { isStandIn, standInScope } from '../stand-in-sql.ts';
import {
  chunkOf,
  contentOf,
  hasLease,
  isCheaperToLookUp,
  joinNumbers,
  leaseParameters,
  numberDevices,
} from './device-numbers.ts';
import type { Session } from './session.ts';

/** Waits until all shards have collected their changes. */
export type Barrier = { readonly wait: () => Promise<void> };

type Parameters = Readonly<Record<string, unknown>>;

/** Stand-ins are not in the index. */
const isChanged = `partner_id = {partner: UInt64}
  AND (version >= {from: UInt64} OR attribute_id IN ({replaced: Array(UInt64)}))
  AND NOT ${isStandIn(standInScope.attribute())}`;

/**
 * Among rows with equal versions, ClickHouse keeps the last one, ordered by part and then by position within the part.
 */
const lastRowFirst = `version DESC, toInt64(splitByChar('_', toString(_part))[2]) DESC, _part_offset DESC`;

/**
 * Updates the bitmaps of a partner's attributes on one shard. The changed rows are first collected into separate
 * bitmaps. Their devices are then removed from all cells of the same attributes and added to their current cells.
 * Idempotent.
 */
export async function foldAttributes(
  session: Session,
  fold: Fold,
  changed: ChangedAttributes,
  collected: Barrier,
): Promise<void> {
  const parameters = { partner: changed.partnerId, from: changed.fromVersion, replaced: changed.attributeIds };
  await session.run(`CREATE TEMPORARY TABLE changed_cells (
    attribute_id UInt64, country LowCardinality(String), id_type UInt8, is_deleted UInt8, is_resolved UInt8, chunk UInt16,
    devices AggregateFunction(groupBitmap, UInt32), unnumbered UInt64) ENGINE = Memory`);
  const rows = await countChanged(session, parameters);
  if (rows > 0) await collectChanges(session, fold, parameters, rows);
  const conflicts = await findConflicts(session);
  if (conflicts.length > 0) await resolveConflicts(session, parameters, conflicts, rows);
  await collected.wait();
  await updateCells(session, fold, parameters, changed, conflicts);
}

async function countChanged(session: Session, parameters: Parameters): Promise<number> {
  const [row] = await session.rows<{ rows: string }>(
    `SELECT toString(count()) AS rows FROM device_attributes_local WHERE ${isChanged}`,
    { parameters },
  );
  return Number(row?.rows ?? 0);
}

async function collectChanges(session: Session, fold: Fold, parameters: Parameters, rows: number): Promise<void> {
  const changed = `SELECT attribute_id, device, country, id_type, is_deleted FROM device_attributes_local WHERE ${isChanged}`;
  await insertChanges(session, changed, parameters, { rows, isResolved: 0 });
  // Rows become visible before their devices become known devices, so some devices may have no number yet. Rows that
  // are published after the devices are numbered belong to a job whose end is recorded later, so a later fold adds
  // them.
  const [found] = await session.rows<{ unnumbered: string }>(
    'SELECT toString(sumIf(unnumbered, NOT is_deleted)) AS unnumbered FROM changed_cells',
  );
  const unnumbered = Number(found?.unnumbered ?? 0);
  if (unnumbered === 0) return;
  const query = `SELECT device FROM device_attributes_local WHERE ${isChanged} AND NOT is_deleted GROUP BY device ORDER BY device`;
  const joined = await joinNumbers(session, { query, parameters, size: rows });
  const withoutNumber = `SELECT device FROM (${joined.query}) WHERE number = 0`;
  await numberDevices(session, fold, { ...joined, query: withoutNumber, atMost: unnumbered });
  await session.run('TRUNCATE TABLE changed_cells');
  await insertChanges(session, changed, parameters, { rows, isResolved: 0 });
}

/** The hash table of a join contains about this many numbers. */
const numbersPerRange = 1_000_000;

/**
 * Joins the rows with the numbers of their devices. The rows are sorted by attribute, so a merge join would first have
 * to sort them by device. Hash joins over one range of devices at a time need little memory.
 */
async function insertChanges(
  session: Session,
  changed: string,
  parameters: Parameters,
  { rows, isResolved }: { readonly rows: number; readonly isResolved: 0 | 1 },
): Promise<void> {
  const settings: ClickHouseSettings = { join_algorithm: 'hash', optimize_aggregation_in_order: 0 };
  const [counted] = await session.rows<{ numbers: string }>(
    'SELECT toString(count()) AS numbers FROM device_numbers_local',
  );
  const numbers = Number(counted?.numbers ?? 0);
  const insert = (from: string, table: string): string =>
    `INSERT INTO changed_cells
     SELECT attribute_id, country, id_type, is_deleted, ${isResolved}, chunk, groupBitmapStateIf(number, number > 0),
       countIf(number = 0) FROM (
       SELECT r.attribute_id AS attribute_id, r.country AS country, r.id_type AS id_type, r.is_deleted AS is_deleted,
         n.number AS number, ${chunkOf('n.number')} AS chunk
       FROM (${from}) AS r LEFT JOIN (${table}) AS n ON r.device = n.device
     ) GROUP BY attribute_id, country, id_type, is_deleted, chunk`;
  if (isCheaperToLookUp(rows, numbers)) {
    const table = `SELECT device, number FROM device_numbers_local WHERE device IN (SELECT device FROM (${changed}))`;
    await session.run(insert(changed, table), { parameters, settings });
    return;
  }
  const cuts = await cutDevices(session, Math.ceil(numbers / numbersPerRange));
  for (const [index, to] of [...cuts, null].entries()) {
    const from = cuts[index - 1];
    const range = [
      ...(from === undefined ? [] : ['device >= {rangeFrom: UUID}']),
      ...(to === null ? [] : ['device < {rangeTo: UUID}']),
    ].join(' AND ');
    const inRange = range === '' ? 'true' : range;
    await session.run(
      insert(
        `SELECT * FROM (${changed}) WHERE ${inRange}`,
        `SELECT device, number FROM device_numbers_local WHERE ${inRange}`,
      ),
      { parameters: { ...parameters, rangeFrom: from ?? null, rangeTo: to }, settings },
    );
  }
}

/**
 * Returns the boundaries that split the devices into ranges of about equal size. They are read from the primary index
 * of `device_numbers_local`.
 */
async function cutDevices(session: Session, ways: number): Promise<string[]> {
  if (ways <= 1) return [];
  const [row] = await session.rows<{ cuts: string[] }>(
    `SELECT arrayMap(n -> toString(devices[1 + intDiv(n * length(devices), {ways: UInt64})]), range(1, {ways: UInt64})) AS cuts
     FROM (SELECT arraySort(groupArray(device)) AS devices FROM mergeTreeIndex(currentDatabase(), 'device_numbers_local'))
     WHERE length(devices) > 2 * {ways: UInt64}`,
    { parameters: { ways } },
  );
  return [...new Set(row?.cuts)];
}

/**
 * Returns the attributes that have a device in more than one changed cell. Only one of the device's rows is current.
 */
async function findConflicts(session: Session): Promise<number[]> {
  const rows = await session.rows<{ id: string }>(
    `SELECT DISTINCT toString(attribute_id) AS id FROM (
       SELECT attribute_id, chunk, sum(bitmapCardinality(devices)) AS single, groupBitmapMerge(devices) AS together
       FROM changed_cells GROUP BY attribute_id, chunk
     ) WHERE single != together`,
  );
  return rows.map(({ id }) => Number(id));
}

/** Selects the current row of each device. This is slower, so it is limited to attributes with conflicts. */
async function resolveConflicts(
  session: Session,
  parameters: Parameters,
  conflicts: readonly number[],
  rows: number,
): Promise<void> {
  const current = `SELECT attribute_id, device, country, id_type, is_deleted FROM device_attributes_local
    WHERE ${isChanged} AND attribute_id IN ({conflicts: Array(UInt64)})
    ORDER BY attribute_id, device, ${lastRowFirst} LIMIT 1 BY attribute_id, device`;
  await insertChanges(session, current, { ...parameters, conflicts }, { rows, isResolved: 1 });
}

async function updateCells(
  session: Session,
  fold: Fold,
  parameters: Parameters,
  changed: ChangedAttributes,
  conflicts: readonly number[],
): Promise<void> {
  const isCurrent = 'is_resolved = (attribute_id IN ({conflicts: Array(UInt64)}))';
  const isReplaced = changed.fromVersion === 0 ? 'true' : 'attribute_id IN ({replaced: Array(UInt64)})';
  const parts = [
    `SELECT attribute_id, country, id_type, chunk, devices AS bitmap FROM changed_cells WHERE NOT is_deleted AND ${isCurrent}`,
    `SELECT attribute_id, country, id_type, chunk, bitmapAndnot(devices, devices) AS bitmap FROM attribute_bitmaps_local FINAL
     WHERE partner_id = {partner: UInt64} AND ${isReplaced}`,
    ...(changed.fromVersion === 0 ? [] : [keptCellsSql(isReplaced, isCurrent)]),
  ];
  await session.run(
    `INSERT INTO attribute_bitmaps_local (partner_id, attribute_id, country, id_type, chunk, devices, content, fold_id)
     SELECT {partner: UInt64}, attribute_id, country, id_type, chunk, merged, ${contentOf('merged')}, {fold: UInt64}
     FROM (
       SELECT attribute_id, country, id_type, chunk, groupBitmapMergeState(bitmap) AS merged FROM (
         ${parts.join(' UNION ALL ')}
       ) GROUP BY attribute_id, country, id_type, chunk
     ) WHERE ${hasLease}`,
    { parameters: { ...parameters, ...leaseParameters(fold), conflicts }, settings: { join_algorithm: 'hash' } },
  );
}

/** The cells of changed attributes without the changed devices. */
function keptCellsSql(isReplaced: string, isCurrent: string): string {
  return `SELECT c.attribute_id AS attribute_id, c.country AS country, c.id_type AS id_type, c.chunk AS chunk,
      bitmapAndnot(c.devices, t.devices) AS bitmap
    FROM (
      SELECT attribute_id, country, id_type, chunk, devices FROM attribute_bitmaps_local FINAL
      WHERE partner_id = {partner: UInt64} AND NOT (${isReplaced})
        AND attribute_id IN (SELECT attribute_id FROM changed_cells)
    ) AS c INNER JOIN (
      SELECT attribute_id, chunk, groupBitmapMergeState(devices) AS devices FROM changed_cells
      WHERE ${isCurrent} GROUP BY attribute_id, chunk
    ) AS t ON c.attribute_id = t.attribute_id AND c.chunk = t.chunk`;
}
