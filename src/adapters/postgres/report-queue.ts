import { sql } from 'kysely';
import { z } from 'zod';
import { budgetDays, isExpired } from '../../domain/composition/budget.ts';
import { type CompositionCounts, type Counting, splitOf } from '../../domain/composition/counts.ts';
import type { PublishedReport } from '../../domain/composition/protection.ts';
import type { IndexState } from '../../ports/device-index.ts';
import type {
  AudienceState,
  ClaimedRequest,
  ReportQueue,
  StoredCounts,
  WantedReport,
} from '../../ports/report-store.ts';
import { isRequestOf, ofGeneration, ofState, publishedWith, toAudienceState } from './composition-store.ts';
import { advisoryLocks, withSessionLock } from './db/advisory-locks.ts';
import type { Database, Tx } from './db/tables.ts';
import { appendEvent } from './event-log.ts';
import { lockUndeleted, selectFolded } from './index-store.ts';
import { chargeBudget, lockBudget } from './report-budget.ts';

/** After this time, no one is waiting for the report anymore. */
const requestHours = 1;

export function postgresReportQueue(db: Database): ReportQueue {
  return {
    claimRequest: (settings, seconds) => claimRequest(db, settings, seconds),
    postpone: async (request, seconds) => {
      await sql`UPDATE report_request SET retry_at = now() + make_interval(secs => ${seconds})
        WHERE ${isRequestOf(request)} AND state = ${request.requestedState}`.execute(db);
    },
    end: async (request) => {
      await db
        .deleteFrom('report_request')
        .where(isRequestOf(request))
        .where('state', '=', request.requestedState)
        .execute();
    },
    isPublished: async (wanted) => {
      const row = await db
        .selectFrom('composition')
        .select('audience_id')
        .where(ofState(wanted))
        .where('published_with', '=', publishedWith(wanted))
        .executeTakeFirst();
      return row !== undefined;
    },
    findCounted: (wanted) => selectCounted(db, wanted),
    readCounts: (wanted) => selectCounts(db, wanted),
    saveCounts: (wanted, stored, charge) =>
      db.transaction().execute(async (tx) => {
        await lockBudget(tx, charge.owner);
        if (!(await lockUndeleted(tx, wanted.audience.audienceId))) return 'superseded';
        if (await isSuperseded(tx, wanted)) return 'superseded';
        if (!(await chargeBudget(tx, charge))) return 'budget spent';
        await saveCounts(tx, wanted, stored);
        return 'saved';
      }),
    savePublished: (wanted, report) => db.transaction().execute((tx) => savePublished(tx, wanted, report)),
    runAlone: ({ audience, counting }, run) => {
      const name = `composition ${audience.audienceId} ${counting}`;
      return withSessionLock(db, sql`hashtextextended(${name}, ${advisoryLocks.composition})`, run);
    },
    isCurrent: async ({ audienceId, generation, lastLoadId }) => {
      const row = await db
        .selectFrom('audience')
        .select(['generation', 'last_load_id'])
        .where('id', '=', audienceId)
        .executeTakeFirst();
      return row?.generation === generation && (row.last_load_id ?? 0) === lastLoadId;
    },
    findIndexState: (audience) => selectIndexState(db, audience),
    removeExpired: async () => {
      await sql`DELETE FROM report_request WHERE requested_at < now() - make_interval(hours => ${requestHours})`.execute(
        db,
      );
      await sql`DELETE FROM report_draw WHERE drawn_at < now() - make_interval(days => ${budgetDays})`.execute(db);
      await sql`DELETE FROM overlap WHERE computed_at < now() - make_interval(days => ${budgetDays})`.execute(db);
    },
  };
}

/**
 * Partners take turns: a partner that has a report in progress waits behind a partner that has none. A request is ready
 * when its audience is in the device index, or when exact counts of its state, from which a report can be published,
 * are stored.
 */
async function claimRequest(db: Database, settings: string, seconds: number): Promise<ClaimedRequest | null> {
  const { rows } = await sql<{
    id: number;
    partner_id: number;
    customer_id: number | null;
    generation: number;
    last_load_id: number | null;
    split: Counting;
    state: string;
  }>`
    WITH ready AS (
      SELECT r.audience_id, r.split, r.retry_at,
        row_number() OVER (PARTITION BY r.partner_id ORDER BY r.retry_at > now() DESC, r.retry_at) AS turn
      FROM report_request r JOIN audience a ON a.id = r.audience_id
      WHERE r.settings = ${settings} AND (
        a.last_load_id IS NULL
        OR EXISTS (SELECT FROM index_audience i WHERE (i.audience_id, i.generation, i.load_id) = (a.id, a.generation, a.last_load_id))
        OR EXISTS (
          SELECT FROM composition c
          WHERE (c.audience_id, c.split, c.generation, c.last_load_id) = (a.id, r.split, a.generation, a.last_load_id)))
    ), chosen AS (
      SELECT r.audience_id, r.split FROM report_request r JOIN ready USING (audience_id, split)
      WHERE r.settings = ${settings} AND r.retry_at <= now()
      ORDER BY ready.turn, ready.retry_at LIMIT 1 FOR UPDATE OF r SKIP LOCKED
    )
    UPDATE report_request r SET retry_at = now() + make_interval(secs => ${seconds})
    FROM chosen, audience a
    WHERE r.audience_id = chosen.audience_id AND r.split = chosen.split AND r.settings = ${settings} AND a.id = r.audience_id
    RETURNING a.id, a.partner_id, a.customer_id, a.generation, a.last_load_id, r.split, r.state`.execute(db);
  const [row] = rows;
  return row ? { audience: toAudienceState(row), counting: row.split, settings, requestedState: row.state } : null;
}

/** A worker that loses its connection loses its lock, so another worker may have counted the same or a later state. */
async function isSuperseded(tx: Tx, { audience, counting }: WantedReport): Promise<boolean> {
  const { rows } = await sql<{ is_same: boolean; computed_at: Date }>`
    SELECT (generation, last_load_id) = (${audience.generation}, ${audience.lastLoadId}) AS is_same, computed_at FROM composition
    WHERE (audience_id, split) = (${audience.audienceId}, ${counting})
      AND (generation, last_load_id) >= (${audience.generation}, ${audience.lastLoadId})`.execute(tx);
  return rows.some(({ is_same, computed_at }) => !is_same || !isExpired(computed_at, new Date()));
}

async function saveCounts(tx: Tx, { audience, counting }: WantedReport, stored: StoredCounts): Promise<void> {
  const values = {
    generation: audience.generation,
    last_load_id: audience.lastLoadId,
    report: storeCounts(stored.counts),
    computed_at: stored.computedAt,
  };
  await tx
    .insertInto('composition')
    .values({ audience_id: audience.audienceId, split: counting, ...values })
    .onConflict((conflict) =>
      conflict.columns(['audience_id', 'split']).doUpdateSet({ ...values, published_with: null }),
    )
    .execute();
}

async function savePublished(tx: Tx, wanted: WantedReport, { cells, ...report }: PublishedReport): Promise<void> {
  const tuples = cells.map(({ attributeId, value, devices, warehouseDevices, small }) => [
    attributeId,
    value,
    devices,
    warehouseDevices,
    small,
  ]);
  const stored = await tx
    .updateTable('composition')
    .from('audience')
    .set({ published: JSON.stringify(report), cells: JSON.stringify(tuples), published_with: publishedWith(wanted) })
    .where(ofState(wanted))
    .whereRef('audience.id', '=', 'composition.audience_id')
    .returning('audience.warehouse_segment_id')
    .executeTakeFirst();
  const { partnerId, customerId, audienceId } = wanted.audience;
  if (!stored) return;
  await appendEvent(tx, {
    partnerId,
    customerId,
    type: 'report.ready',
    data: { audienceId, warehouseSegmentId: stored.warehouse_segment_id, split: splitOf(wanted.counting) },
  });
}

/** Returns null until the index contains the audience's state, and while the whole index is being rebuilt. */
async function selectIndexState(db: Database, audience: AudienceState): Promise<IndexState | null> {
  const [folded] = (await selectFolded(db, [audience])) ?? [];
  if (!folded) return null;
  const { rows } = await sql<{
    partner_id: number;
    fold_id: number;
  }>`SELECT partner_id, fold_id FROM folds_of_all()`.execute(db);
  if (rows.length === 0) return null;
  const folds = new Map(rows.map(({ partner_id, fold_id }) => [partner_id, fold_id]));
  return { foldId: folded.foldId, devices: folded.devices, folds };
}

async function selectCounted(
  db: Database,
  wanted: WantedReport,
): Promise<{ readonly lastLoadId: number; readonly computedAt: Date } | null> {
  const row = await db
    .selectFrom('composition')
    .select(['last_load_id', 'computed_at'])
    .where(ofGeneration(wanted))
    .executeTakeFirst();
  return row ? { lastLoadId: row.last_load_id, computedAt: row.computed_at } : null;
}

async function selectCounts(db: Database, wanted: WantedReport): Promise<CompositionCounts | null> {
  const row = await db.selectFrom('composition').select('report').where(ofState(wanted)).executeTakeFirst();
  return row ? readCounts(row.report) : null;
}

// A report can have thousands of cells, so each cell is stored as a short tuple without field names.

const storedSchema = z.object({
  members: z.string(),
  matched: z.int(),
  known: z.int(),
  countries: z.record(z.string(), z.int()).default({}),
  cells: z.array(z.tuple([z.int(), z.string().nullable(), z.int(), z.int(), z.string()])),
});

function storeCounts({ members, matchedDevices, knownDevices, countries, cells }: CompositionCounts): string {
  const stored: z.infer<typeof storedSchema> = {
    members,
    matched: matchedDevices,
    known: knownDevices,
    countries,
    cells: cells.map((cell) => [
      cell.attributeId,
      cell.value,
      cell.devices,
      cell.warehouseDevices,
      cell.warehouseState,
    ]),
  };
  return JSON.stringify(stored);
}

function readCounts(report: unknown): CompositionCounts {
  const { members, matched, known, countries, cells } = storedSchema.parse(report);
  return {
    members,
    matchedDevices: matched,
    knownDevices: known,
    countries,
    cells: cells.map(([attributeId, value, devices, warehouseDevices, warehouseState]) => ({
      attributeId,
      value,
      devices,
      warehouseDevices,
      warehouseState,
    })),
  };
}
