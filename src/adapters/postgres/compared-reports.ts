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
  readonly total_entries: number;
  readonly total_small: number;
  readonly total_hidden: number;
};

/**
 * Joins the cells of two published reports. PostgreSQL sorts them, because sorting 50,000 cells here would delay other
 * requests. The totals are the same for all cells, so sorting by the ratio of the two counts is equivalent to sorting
 * by index. The values of the report are read once and not for every cell, because each read decompresses the report.
 */
export async function selectCompared(
  db: Database,
  wanted: WantedReport,
  { order, offset, limit, name, omitsSmall, baseline }: Comparison,
): Promise<StoredReport | null> {
  const { rows } = await sql<Row & { readonly attributeId: number | null }>`
    WITH pair AS MATERIALIZED (
      SELECT (report.published->>'isProtected')::boolean AS is_protected, (report.published->>'matchedDevices')::bigint AS matched,
        (report.published->>'warehouseDevices')::bigint AS warehouse, report.computed_at,
        ${baselineTotal(baseline)}::bigint AS baseline_total, report.cells, baseline.cells AS baseline_cells
      FROM composition report JOIN composition baseline ON true
      WHERE ${isPublished('report', wanted)} AND ${isPublished('baseline', baseline?.report ?? wanted)}
    )
    SELECT pair.is_protected, pair.matched, pair.warehouse, pair.computed_at, pair.baseline_total, total.*, entry.*
    FROM pair CROSS JOIN LATERAL (
      SELECT count(*) AS total_entries, count(*) FILTER (WHERE small) AS total_small,
        count(*) FILTER (WHERE devices IS NULL) AS total_hidden
      FROM (${cellsOf('cells')}) one ${named(name)}
    ) total
    LEFT JOIN LATERAL (
      SELECT one.*, ${baselineCount(baseline)} AS "baselineDevices"
      FROM (${cellsOf('cells')}) one ${named(name)} LEFT JOIN ${baselineCells(baseline)}
      WHERE NOT (one.small AND ${omitsSmall}::boolean)
      ORDER BY ${rankOf(order, baseline)} DESC NULLS LAST, one."attributeId", one.value COLLATE "C"
      LIMIT ${limit} OFFSET ${offset}
    ) entry ON true`.execute(db);
  const [first] = rows;
  if (!first) return null;
  return {
    matchedDevices: first.matched,
    warehouseDevices: first.warehouse,
    baselineDevices: first.baseline_total,
    isProtected: first.is_protected,
    computedAt: first.computed_at,
    totals: { entries: first.total_entries, small: first.total_small, hidden: first.total_hidden },
    // A page without cells is returned as one row without an attribute. The rows are not copied, because there can be
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

function cellsOf(column: 'cells' | 'baseline_cells'): RawBuilder<unknown> {
  return sql`SELECT (cell->>0)::bigint AS "attributeId", cell->>1 AS value, (cell->>2)::bigint AS devices,
    (cell->>3)::bigint AS "warehouseDevices", (cell->>4)::boolean AS small FROM jsonb_array_elements(pair.${sql.ref(column)}) cell`;
}

/** Attributes of any partner can be in a report, and only this function may read their names. */
function named(name: string | null): RawBuilder<unknown> {
  if (name === null) return sql``;
  return sql`JOIN (
      SELECT id FROM describe_attributes((SELECT array_agg(DISTINCT (cell->>0)::bigint) FROM jsonb_array_elements(pair.cells) cell))
      WHERE strpos(lower(name), lower(${name}::text)) > 0
    ) named ON named.id = one."attributeId"`;
}

/** A country is compared with all values of an attribute. An audience is compared value by value. */
function baselineCells(baseline: Baseline): RawBuilder<unknown> {
  if (!baseline) return sql`(SELECT NULL::bigint AS devices) other ON false`;
  const cells = sql`(${cellsOf('baseline_cells')}) cells`;
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
