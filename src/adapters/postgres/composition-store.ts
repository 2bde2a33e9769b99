import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import type { AudienceScope } from '../../domain/audience.ts';
import type { Counting, CompositionCounts } from '../../domain/composition/counts.ts';
import type { PublishedReport } from '../../domain/composition/protection.ts';
import type { PartnerId } from '../../domain/ids.ts';
import type { CompositionStore, AudienceState, StoredCounts, StoredReport } from '../../ports/audience-store.ts';
import type { IndexState } from '../../ports/device-index.ts';
import { inScope } from './audience-files.ts';
import { advisoryLocks } from './db/advisory-locks.ts';
import type { Database } from './db/tables.ts';

export function postgresCompositionStore(db: Database): CompositionStore {
  return {
    findAudience: (scope, warehouseSegmentId) => selectAudienceState(db, scope, warehouseSegmentId),
    find: (audience, counting) => selectComposition(db, audience, counting),
    save: (audience, counting, stored) => saveComposition(db, audience, counting, stored),
    findPublished: (audience, counting, settings) => selectPublished(db, audience, counting, settings),
    savePublished: (audience, counting, settings, report) => updatePublished(db, audience, counting, settings, report),
    claimComputation: (partnerId, perDay) => countComputation(db, partnerId, 1, perDay),
    returnComputation: async (partnerId, perDay) => void (await countComputation(db, partnerId, -1, perDay)),
    runAlone: (audience, counting, run) => runAlone(db, audience, counting, run),
    isCurrent: async ({ audienceId, generation, lastLoadId }) => {
      const row = await db
        .selectFrom('audience')
        .select(['generation', 'last_load_id'])
        .where('id', '=', audienceId)
        .executeTakeFirst();
      return row?.generation === generation && (row.last_load_id ?? 0) === lastLoadId;
    },
    findIndexState: (audience) => selectIndexState(db, audience),
    nameAttributes: async (ids) => {
      if (ids.length === 0) return new Map();
      const { rows } = await sql<{ id: number; name: string }>`
        SELECT id, name FROM names_of_attributes(${ids}::bigint[])`.execute(db);
      return new Map(rows.map(({ id, name }) => [id, name]));
    },
  };
}

/**
 * Runs `run` unless another process holds the lock. A report takes minutes, which exceeds the timeout for idle
 * transactions. The lock is therefore a session lock. It occupies one connection, and it is released if the process
 * dies.
 */
async function runAlone<T>(
  db: Database,
  audience: AudienceState,
  counting: Counting,
  run: () => Promise<T>,
): Promise<T | null> {
  const name = `composition ${audience.audienceId} ${counting}`;
  return db.connection().execute(async (connection) => {
    const { rows } = await sql<{ taken: boolean }>`
      SELECT pg_try_advisory_lock(hashtextextended(${name}, ${advisoryLocks.composition})) AS taken`.execute(
      connection,
    );
    if (!rows[0]?.taken) return null;
    try {
      return await run();
    } finally {
      await sql`SELECT pg_advisory_unlock(hashtextextended(${name}, ${advisoryLocks.composition}))`.execute(connection);
    }
  });
}

/**
 * Stores a report. Keeps the first report of each state of the audience, because its numbers must not change while the
 * audience stays the same. A slow computation must not overwrite the report of a later state.
 */
async function saveComposition(
  db: Database,
  audience: AudienceState,
  counting: Counting,
  stored: StoredCounts,
): Promise<void> {
  const values = {
    generation: audience.generation,
    last_load_id: audience.lastLoadId,
    report: storeCounts(stored.counts),
    computed_at: stored.computedAt,
  };
  await db
    .insertInto('composition')
    .values({ audience_id: audience.audienceId, split: counting, ...values })
    .onConflict((conflict) =>
      conflict
        .columns(['audience_id', 'split'])
        .doUpdateSet(values)
        .where(
          sql<boolean>`(composition.generation, composition.last_load_id) < (excluded.generation, excluded.last_load_id)`,
        ),
    )
    .execute();
}

async function selectAudienceState(
  db: Database,
  scope: AudienceScope,
  warehouseSegmentId: number,
): Promise<AudienceState | null> {
  const row = await db
    .selectFrom('audience')
    .select(['id', 'partner_id', 'generation', 'last_load_id'])
    .where('warehouse_segment_id', '=', warehouseSegmentId)
    .where(inScope(scope))
    .executeTakeFirst();
  if (!row) return null;
  return {
    partnerId: row.partner_id,
    audienceId: row.id,
    generation: row.generation,
    lastLoadId: row.last_load_id ?? 0,
  };
}

/**
 * An audience that was never loaded has no devices, so it needs no fold. Row-level security hides the folds of other partners from the
 * role of the API, so a database function reads them. It returns no rows while the whole index is rebuilt.
 */
async function selectIndexState(db: Database, audience: AudienceState): Promise<IndexState | null> {
  const { audienceId, generation, lastLoadId } = audience;
  const folded =
    lastLoadId === 0
      ? { fold_id: 0, devices: 0 }
      : await db
          .selectFrom('index_audience')
          .select(['fold_id', 'devices'])
          .where('audience_id', '=', audienceId)
          .where('generation', '=', generation)
          .where('load_id', '=', lastLoadId)
          .executeTakeFirst();
  if (!folded) return null;
  const { rows } = await sql<{
    partner_id: number;
    fold_id: number;
  }>`SELECT partner_id, fold_id FROM folds_of_all()`.execute(db);
  if (rows.length === 0) return null;
  const folds = new Map(rows.map(({ partner_id, fold_id }) => [partner_id, fold_id]));
  return { foldId: folded.fold_id, devices: folded.devices, folds };
}

async function selectComposition(
  db: Database,
  audience: AudienceState,
  counting: Counting,
): Promise<StoredCounts | null> {
  const row = await db
    .selectFrom('composition')
    .select(['report', 'computed_at'])
    .where(ofState(audience, counting))
    .executeTakeFirst();
  return row ? { counts: readCounts(row.report), computedAt: row.computed_at } : null;
}

function ofState({ audienceId, generation, lastLoadId }: AudienceState, counting: Counting): RawBuilder<boolean> {
  return sql<boolean>`(audience_id, split, generation, last_load_id) = (${audienceId}, ${counting}, ${generation}, ${lastLoadId})`;
}

/** Includes the state, because saving the counts of a later state keeps the published report of the earlier one. */
function publishedWith({ generation, lastLoadId }: AudienceState, settings: string): string {
  return `${generation} ${lastLoadId} ${settings}`;
}

const entrySchema = z.object({
  attributeId: z.int(),
  value: z.string().nullable(),
  devices: z.int().nullable(),
  share: z.number().nullable(),
  warehouseDevices: z.int(),
  warehouseShare: z.number().nullable(),
  index: z.number().nullable(),
  small: z.boolean(),
});

const publishedSchema = z.object({
  isProtected: z.boolean(),
  matchedDevices: z.int(),
  warehouseDevices: z.int(),
  top: z.object({ devices: z.array(entrySchema), index: z.array(entrySchema) }),
}) satisfies z.ZodType<PublishedReport>;

async function selectPublished(
  db: Database,
  audience: AudienceState,
  counting: Counting,
  settings: string,
): Promise<StoredReport | null> {
  const row = await db
    .selectFrom('composition')
    .select(['published', 'computed_at'])
    .where(ofState(audience, counting))
    .where('published_with', '=', publishedWith(audience, settings))
    .executeTakeFirst();
  return row ? { report: publishedSchema.parse(row.published), computedAt: row.computed_at } : null;
}

async function updatePublished(
  db: Database,
  audience: AudienceState,
  counting: Counting,
  settings: string,
  report: PublishedReport,
): Promise<void> {
  await db
    .updateTable('composition')
    .set({ published: JSON.stringify(report), published_with: publishedWith(audience, settings) })
    .where(ofState(audience, counting))
    .execute();
}

/**
 * Adds 1 to or subtracts 1 from the partner's computations of today (UTC). Returns false if the sum would exceed the limit. There
 * is one row per partner, and the first computation of a day starts a new count.
 */
async function countComputation(db: Database, partnerId: PartnerId, change: 1 | -1, perDay: number): Promise<boolean> {
  const { rows } = await sql`
    INSERT INTO report_budget AS budget (partner_id, day, computed)
    VALUES (${partnerId}, date_trunc('day', now(), 'UTC'), ${Math.max(0, change)})
    ON CONFLICT (partner_id) DO UPDATE
    SET day = excluded.day,
        computed = CASE WHEN budget.day = excluded.day THEN greatest(0, budget.computed + ${change}) ELSE excluded.computed END
    WHERE budget.day <> excluded.day OR budget.computed + ${change} <= ${perDay}
    RETURNING computed`.execute(db);
  return rows.length > 0;
}

// A report can have thousands of cells, so each cell is stored as a short tuple without field names.

const storedSchema = z.object({
  members: z.string(),
  matched: z.int(),
  known: z.int(),
  cells: z.array(z.tuple([z.int(), z.string().nullable(), z.int(), z.int(), z.string()])),
});

function storeCounts({ members, matchedDevices, knownDevices, cells }: CompositionCounts): string {
  const stored: z.infer<typeof storedSchema> = {
    members,
    matched: matchedDevices,
    known: knownDevices,
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
  const { members, matched, known, cells } = storedSchema.parse(report);
  return {
    members,
    matchedDevices: matched,
    knownDevices: known,
    cells: cells.map(([attributeId, value, devices, warehouseDevices, warehouseState]) => ({
      attributeId,
      value,
      devices,
      warehouseDevices,
      warehouseState,
    })),
  };
}
