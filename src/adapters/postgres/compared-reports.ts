import { type RawBuilder, sql } from 'kysely';
import type { Order } from '../../domain/composition/protection.ts';
import type { Comparison, EntryCounts, StoredReport, WantedReport } from '../../ports/report-store.ts';
import type { Database } from './db/tables.ts';

type Row = EntryCounts & {
  readonly is_protected: boolean;
  readonly matched: number;
  readonly warehouse: number;
  readonly baseline_total: number | null;
  readonly computed_at: Date;
};

/**
 * Joins the cells of two published reports. PostgreSQL sorts them, because sorting 50,000 cells here would delay other
 * requests. The totals are the same for all cells, so sorting by the ratio of the two counts is equivalent to sorting
 * by index.
 */
export async function selectCompared(
  db: Database,
  wanted: WantedReport,
  { order, limit, baseline }: Comparison,
): Promise<StoredReport | null> {
  const { rows } = await sql<Row & { readonly attributeId: number | null }>`
    SELECT (report.published->>'isProtected')::boolean AS is_protected, (report.published->>'matchedDevices')::bigint AS matched,
      (report.published->>'warehouseDevices')::bigint AS warehouse, report.computed_at,
      ${baselineTotal(baseline)}::bigint AS baseline_total, entry.*
    FROM composition report JOIN composition baseline ON true
    LEFT JOIN LATERAL (
      SELECT one.*, ${baselineCount(baseline)} AS "baselineDevices"
      FROM (${cellsOf('report')}) one LEFT JOIN ${baselineCells(baseline)}
      ORDER BY ${rankOf(order, baseline)} DESC NULLS LAST, one."attributeId", one.value COLLATE "C"
      LIMIT ${limit}
    ) entry ON true
    WHERE ${isPublished('report', wanted)} AND ${isPublished('baseline', baseline?.report ?? wanted)}`.execute(db);
  const [first] = rows;
  if (!first) return null;
  return {
    matchedDevices: first.matched,
    warehouseDevices: first.warehouse,
    baselineDevices: first.baseline_total,
    isProtected: first.is_protected,
    computedAt: first.computed_at,
    // A report without cells is returned as one row without an attribute. The rows are not copied, because there can be
    // 50,000.
    entries: first.attributeId === null ? [] : rows,
  };
}

type Baseline = Comparison['baseline'];

/**
 * Whether the published report describes the stored counts. A worker may since have stored the counts of a later load.
 */
export function describesStoredCounts(table: string, settings: string): RawBuilder<boolean> {
  const of = sql.ref(table);
  return sql<boolean>`${of}.published_with = ${of}.generation || ' ' || ${of}.last_load_id || ' ' || ${settings}::text`;
}

function isPublished(table: string, { audience, counting, settings }: WantedReport): RawBuilder<boolean> {
  const of = sql.ref(table);
  return sql<boolean>`(${of}.audience_id, ${of}.split, ${of}.generation) = (${audience.audienceId}, ${counting}, ${audience.generation})
    AND ${describesStoredCounts(table, settings)}`;
}

function cellsOf(table: string): RawBuilder<unknown> {
  return sql`SELECT (cell->>0)::bigint AS "attributeId", cell->>1 AS value, (cell->>2)::bigint AS devices,
    (cell->>3)::bigint AS "warehouseDevices", (cell->>4)::boolean AS small FROM jsonb_array_elements(${sql.ref(table)}.cells) cell`;
}

/** A country is compared with all values of an attribute. An audience is compared value by value. */
function baselineCells(baseline: Baseline): RawBuilder<unknown> {
  if (!baseline) return sql`(SELECT NULL::bigint AS devices) other ON false`;
  const cells = sql`(${cellsOf('baseline')}) cells`;
  return baseline.country === null
    ? sql`(SELECT "attributeId", coalesce(value, '') AS value, devices FROM ${cells}) other
        ON other."attributeId" = one."attributeId" AND other.value = coalesce(one.value, '')`
    : sql`(SELECT "attributeId", "warehouseDevices" AS devices FROM ${cells} WHERE value = ${baseline.country}) other
        ON other."attributeId" = one."attributeId"`;
}

/**
 * A country without a cell has no devices with the attribute, so its count is 0. An audience without a cell may lack
 * the attribute or the event, so its count stays null.
 */
function baselineCount(baseline: Baseline): RawBuilder<unknown> {
  return !baseline || baseline.country === null ? sql`other.devices` : sql`coalesce(other.devices, 0)`;
}

function baselineTotal(baseline: Baseline): RawBuilder<unknown> {
  if (!baseline) return sql`NULL`;
  if (baseline.country === null) return sql`(baseline.published->>'matchedDevices')`;
  return sql`coalesce(baseline.published->'countries'->>${baseline.country}::text, '0')`;
}

function rankOf(order: Order, baseline: Baseline): RawBuilder<unknown> {
  if (order === 'devices') return sql`one.devices`;
  const index = sql`one.devices::float8 / nullif(${baseline ? baselineCount(baseline) : sql`one."warehouseDevices"`}, 0)`;
  return order === 'index' ? index : sql`-(${index})`;
}
