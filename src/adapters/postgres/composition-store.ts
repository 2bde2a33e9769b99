import { sql } from 'kysely';
import { z } from 'zod';
import type { AudienceScope } from '../../domain/audience.ts';
import type { Counting, CompositionCounts } from '../../domain/composition/counts.ts';
import type { CompositionStore, AudienceState, StoredCounts } from '../../ports/audience-store.ts';
import type { WarehouseAttribute } from '../../ports/warehouse.ts';
import { inScope } from './audience-files.ts';
import { advisoryLocks } from './db/advisory-locks.ts';
import type { Database } from './db/tables.ts';

export function postgresCompositionStore(db: Database): CompositionStore {
  return {
    findAudience: (scope, warehouseSegmentId) => selectAudienceState(db, scope, warehouseSegmentId),
    find: (audience, counting) => selectComposition(db, audience, counting),
    save: (audience, counting, stored) => saveComposition(db, audience, counting, stored),
    runAlone: (audience, counting, run) => runAlone(db, audience, counting, run),
    // Returns the attributes of all partners. Row-level security hides most of them from the API role, so a database
    // function reads them.
    listAttributes: async () =>
      (await sql<WarehouseAttribute>`SELECT id, partner_id AS "partnerId" FROM attributes_of_all()`.execute(db)).rows,
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

async function selectComposition(
  db: Database,
  audience: AudienceState,
  counting: Counting,
): Promise<StoredCounts | null> {
  const row = await db
    .selectFrom('composition')
    .select(['report', 'computed_at'])
    .where('audience_id', '=', audience.audienceId)
    .where('split', '=', counting)
    .where('generation', '=', audience.generation)
    .where('last_load_id', '=', audience.lastLoadId)
    .executeTakeFirst();
  return row ? { counts: readCounts(row.report), computedAt: row.computed_at } : null;
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
      // An uploaded event may contain NUL, which jsonb does not support.
      cell.value?.replaceAll('\0', '\u{fffd}') ?? null,
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
