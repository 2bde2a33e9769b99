import { sql } from 'kysely';
import { z } from 'zod';
import type { FoldedAudience, FoldedBlocks, IndexChange, IndexStore } from '../../ports/device-index.ts';
import type { AudienceState } from '../../ports/report-store.ts';
import { advisoryLocks, withSessionLock } from './db/advisory-locks.ts';
import type { Database, Tx } from './db/tables.ts';

const blocksSchema = z.array(z.tuple([z.int(), z.int()]));

export function postgresIndexStore(db: Database): IndexStore {
  return {
    runAlone: async (run) => {
      const ran = await withSessionLock(db, sql`${advisoryLocks.deviceIndex}::bigint`, async () => {
        await run();
        return true;
      });
      return ran ?? false;
    },
    nextFoldId: async () => {
      const { rows } = await sql<{ id: number }>`SELECT nextval('fold_id') AS id`.execute(db);
      const [row] = rows;
      if (!row) throw new Error('PostgreSQL returned no fold ID');
      return row.id;
    },
    advanceFoldId: async (past) => {
      await sql`SELECT setval('fold_id', greatest(last_value, ${past})) FROM fold_id`.execute(db);
    },
    listChanges: (limit) => listChanges(db, limit),
    postpone: async (ids, seconds) => {
      await sql`UPDATE index_change SET retry_at = now() + make_interval(secs => ${seconds})
        WHERE id = ANY (${ids}::bigint[])`.execute(db);
    },
    hasChanges: async () =>
      (await db.selectFrom('index_change').select('partner_id').limit(1).executeTakeFirst()) !== undefined,
    countChanges: async () => {
      const { rows } = await sql<{ changes: number }>`
        SELECT count(DISTINCT (partner_id, audience_id)) AS changes FROM index_change`.execute(db);
      return rows[0]?.changes ?? 0;
    },
    findAudience: async (audienceId) => {
      const row = await db
        .selectFrom('audience')
        .select(['id', 'partner_id', 'generation', 'last_load_id'])
        .where('id', '=', audienceId)
        .where('deleted_at', 'is', null)
        .executeTakeFirst();
      if (!row) return null;
      const { id, partner_id: partnerId, generation, last_load_id: loadId } = row;
      return { audienceId: id, partnerId, generation, loadId: loadId ?? 0 };
    },
    knownVersion: async () => {
      const { rows } = await sql<{ version: number }>`SELECT last_value AS version FROM known_devices_version`.execute(
        db,
      );
      return rows[0]?.version ?? 0;
    },
    listStaleMatched: (version, limit) => selectStaleMatched(db, version, limit),
    recordMatched: async (version, counts) => {
      await sql`
        UPDATE audience a SET matched_devices = o.matched, matched_version = ${version}, matched_at = now()
        FROM unnest(
          ${counts.map(({ audienceId }) => audienceId)}::bigint[],
          ${counts.map(({ generation }) => generation)}::integer[],
          ${counts.map(({ loadId }) => loadId)}::bigint[],
          ${counts.map(({ matched }) => matched)}::bigint[]
        ) AS o (id, generation, load_id, matched)
        WHERE a.id = o.id AND a.generation = o.generation AND a.last_load_id = o.load_id
          AND a.matched_version < ${version}`.execute(db);
    },
    listFoldedAudiences: async () => {
      const rows = await db
        .selectFrom('index_audience')
        .innerJoin('audience', 'audience.id', 'index_audience.audience_id')
        .whereRef('audience.generation', '=', 'index_audience.generation')
        .where('audience.last_load_id', 'is not', null)
        .select(['audience.id', 'audience.partner_id', 'audience.generation'])
        .execute();
      return rows.map(({ id, partner_id, generation }) => ({ audienceId: id, partnerId: partner_id, generation }));
    },
    listFoldedBlocks: async () => {
      const rows = await db
        .selectFrom('index_shard')
        .select(['known_table', 'known_blocks'])
        .orderBy('number')
        .execute();
      return rows.map(({ known_table: table, known_blocks }) => ({
        table,
        blocks: blocksSchema.parse(known_blocks),
      }));
    },
    recordKnownDevices: (foldId, folded) => recordKnownDevices(db, foldId, folded),
    recordAttributes: async (change, foldId) => {
      await db.transaction().execute(async (tx) => {
        await recordFold(tx, change.partnerId, foldId);
        await removeChange(tx, change);
      });
    },
    recordAudience: async (change, folded) => {
      await db.transaction().execute(async (tx) => {
        // An audience that was deleted during the fold must leave no entry behind.
        if (folded && (await lockUndeleted(tx, folded.audienceId))) {
          const { audienceId, partnerId, generation, loadId, foldId, devices } = folded;
          const state = { generation, load_id: loadId, fold_id: foldId, devices, folded_at: new Date() };
          await tx
            .insertInto('index_audience')
            .values({ audience_id: audienceId, partner_id: partnerId, ...state })
            .onConflict((conflict) =>
              conflict.column('audience_id').doUpdateSet(state).where('index_audience.fold_id', '<', foldId),
            )
            .execute();
        }
        await removeChange(tx, change);
      });
    },
    noteAll: async () => {
      const { rows } = await sql<{ changes: number }>`SELECT note_all_index_changes() AS changes`.execute(db);
      return rows[0]?.changes ?? 0;
    },
  };
}

/** Returns whether the audience exists. Until the transaction ends, it cannot be deleted. */
export async function lockUndeleted(tx: Tx, audienceId: number): Promise<boolean> {
  const audience = await tx
    .selectFrom('audience')
    .select('id')
    .where('id', '=', audienceId)
    .where('deleted_at', 'is', null)
    .forShare()
    .executeTakeFirst();
  return audience !== undefined;
}

/** Combines all notes of a partner or an audience into one change. Notes that are added during the fold are kept. */
async function listChanges(db: Database, limit: number): Promise<IndexChange[]> {
  const { rows } = await sql<{
    partner_id: number;
    audience_id: number;
    from_version: number;
    ids: string[];
    attribute_ids: string[] | null;
  }>`
    SELECT partner_id, audience_id, min(from_version) AS from_version, array_agg(id) AS ids,
      (SELECT array_agg(DISTINCT attribute) FROM index_change deleted, unnest(deleted.attribute_ids) AS attribute
       WHERE deleted.id = ANY (array_agg(index_change.id))) AS attribute_ids
    FROM index_change GROUP BY partner_id, audience_id HAVING max(retry_at) <= now() ORDER BY min(id) LIMIT ${limit}`.execute(
    db,
  );
  return rows.map((row) => ({
    ids: row.ids.map(Number),
    partnerId: row.partner_id,
    audienceId: row.audience_id === 0 ? null : row.audience_id,
    fromVersion: row.from_version,
    attributeIds: (row.attribute_ids ?? []).map(Number),
  }));
}

async function selectStaleMatched(db: Database, version: number, limit: number): Promise<FoldedAudience[]> {
  const rows = await db
    .selectFrom('audience')
    .innerJoin('index_audience', 'index_audience.audience_id', 'audience.id')
    .whereRef('audience.generation', '=', 'index_audience.generation')
    .whereRef('audience.last_load_id', '=', 'index_audience.load_id')
    .where('audience.matched_version', '<', version)
    .select(['audience.id', 'audience.partner_id', 'audience.generation', 'load_id', 'fold_id', 'devices'])
    .limit(limit)
    .execute();
  return rows.map((row) => ({
    audienceId: row.id,
    partnerId: row.partner_id,
    generation: row.generation,
    loadId: row.load_id,
    foldId: row.fold_id,
    devices: row.devices,
  }));
}

/** A worker that resumes late must not replace the record of a later fold. Returns whether the fold is the latest. */
async function recordFold(db: Database, partnerId: number, foldId: number): Promise<boolean> {
  const fold = { fold_id: foldId, folded_at: new Date() };
  const recorded = await db
    .insertInto('index_fold')
    .values({ partner_id: partnerId, ...fold })
    .onConflict((conflict) => conflict.column('partner_id').doUpdateSet(fold).where('index_fold.fold_id', '<', foldId))
    .returning('fold_id')
    .executeTakeFirst();
  return recorded !== undefined;
}

/** Folds of the known devices use ID 0, which no partner has. */
const knownDevices = 0;

async function recordKnownDevices(db: Database, foldId: number, folded: readonly FoldedBlocks[]): Promise<void> {
  await db.transaction().execute(async (tx) => {
    if (!(await recordFold(tx, knownDevices, foldId))) return;
    for (const [index, { table, blocks }] of folded.entries()) {
      const state = { known_table: table, known_blocks: JSON.stringify(blocks) };
      await tx
        .insertInto('index_shard')
        .values({ number: index + 1, ...state })
        .onConflict((conflict) => conflict.column('number').doUpdateSet(state))
        .execute();
    }
  });
}

async function removeChange(db: Database, { ids }: IndexChange): Promise<void> {
  await sql`DELETE FROM index_change WHERE id = ANY (${ids}::bigint[])`.execute(db);
}

/** Adds a note that the known devices were replaced. */
export async function noteKnownDevices(db: Database): Promise<void> {
  await db.insertInto('index_change').values({ partner_id: knownDevices, from_version: 1 }).execute();
}

/**
 * Returns null until the index contains the current state of all of these audiences. An audience that was never loaded
 * has no devices, so it needs no fold.
 */
export async function selectFolded(
  db: Database,
  audiences: readonly AudienceState[],
): Promise<readonly FoldedAudience[] | null> {
  const rows = await db
    .selectFrom('index_audience')
    .select(['audience_id', 'generation', 'load_id', 'fold_id', 'devices'])
    .where(
      'audience_id',
      'in',
      audiences.map(({ audienceId }) => audienceId),
    )
    .execute();
  const folded = audiences.map(({ partnerId, audienceId, generation, lastLoadId }): FoldedAudience | null => {
    const state = { partnerId, audienceId, generation, loadId: lastLoadId };
    if (lastLoadId === 0) return { ...state, foldId: 0, devices: 0 };
    const found = rows.find(
      (row) => row.audience_id === audienceId && row.generation === generation && row.load_id === lastLoadId,
    );
    return found ? { ...state, foldId: found.fold_id, devices: found.devices } : null;
  });
  return folded.every((one) => one !== null) ? folded : null;
}
