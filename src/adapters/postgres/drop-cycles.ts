import { type RawBuilder, type Selectable, sql } from 'kysely';
import { z } from 'zod';
import { dropSteps, dropWaits } from '../../domain/drop.ts';
import type { ClaimedCycle, CycleChange, DropCycle, DropCycles, DropUpload, NewUpload } from '../../ports/drop.ts';
import type { DropCycleTable, DropUploadTable } from './db/drop-tables.ts';
import type { Database, Tx } from './db/tables.ts';

export function postgresDropCycles(db: Database): DropCycles {
  return {
    claim: (leaseSeconds) =>
      db.transaction().execute(async (tx) => {
        await sql`
          INSERT INTO drop_fetch DEFAULT VALUES ON CONFLICT (is_only) DO UPDATE SET tried_at = now()`.execute(tx);
        // The condition prevents a claim from using up an ID. The constraint decides which of two concurrent commands
        // succeeds.
        await sql`
          INSERT INTO drop_cycle (step) SELECT 'download' WHERE NOT EXISTS (
            SELECT FROM drop_cycle WHERE finished_at IS NULL) ON CONFLICT DO NOTHING`.execute(tx);
        const { rows } = await sql<CycleRow>`
          UPDATE drop_cycle SET claim = claim + 1, claimed_until = now() + make_interval(secs => ${leaseSeconds})
          WHERE finished_at IS NULL AND (claimed_until IS NULL OR claimed_until < now()) RETURNING *`.execute(tx);
        return rows[0] ? toClaimed(rows[0]) : null;
      }),
    renew: async (cycle, leaseSeconds) => {
      const { numAffectedRows = 0n } = await sql`
        UPDATE drop_cycle SET claimed_until = now() + make_interval(secs => ${leaseSeconds})
        WHERE ${isHeld(cycle)}`.execute(db);
      return numAffectedRows > 0n;
    },
    advance: (cycle, change) => db.transaction().execute((tx) => advance(tx, cycle, change)),
    release: async (cycle, waitingFor, failure) => {
      await sql`
        UPDATE drop_cycle SET claimed_until = NULL, waiting_for = ${waitingFor}, failure_detail = ${failure}
        WHERE ${isHeld(cycle)}`.execute(db);
    },
    discard: async (cycle) => {
      await sql`DELETE FROM drop_cycle WHERE ${isHeld(cycle)} AND archive_key IS NULL`.execute(db);
    },
    noteFetch: async (outcome, isCurrent) => {
      await sql`
        UPDATE drop_fetch SET outcome = ${outcome},
          fetched_at = CASE WHEN ${isCurrent} THEN now() ELSE fetched_at END`.execute(db);
    },
    hasArchive: async (sha256) => {
      const found = await db
        .selectFrom('drop_cycle')
        .select('id')
        .where('archive_sha256', '=', sha256)
        .limit(1)
        .execute();
      return found.length > 0;
    },
    listUploads: async (cycleId) => {
      const rows = await db
        .selectFrom('drop_upload')
        .selectAll()
        .where('cycle_id', '=', cycleId)
        .orderBy('created_at')
        .orderBy('name')
        .execute();
      return rows.map(toUpload);
    },
    addAmendment: (cycleId, upload) => insertUploads(db, cycleId, [upload]),
    noteSent: async (cycleId, name) => {
      await sql`
        UPDATE drop_upload SET sent_at = coalesce(sent_at, now())
        WHERE cycle_id = ${cycleId} AND name = ${name}`.execute(db);
    },
    noteUnsent: async (cycleId, name) => {
      await sql`
        UPDATE drop_upload SET sent_at = NULL
        WHERE cycle_id = ${cycleId} AND name = ${name} AND accepted_at IS NULL`.execute(db);
    },
    noteAccepted: async (cycleId, name, message) => {
      await sql`
        UPDATE drop_upload SET accepted_at = now(), message = ${message}
        WHERE cycle_id = ${cycleId} AND name = ${name} AND accepted_at IS NULL`.execute(db);
    },
    noteRefused: (cycleId, name, message) => noteRefused(db, cycleId, { name, message }),
    finish: async (cycle, finishedAt, proof) => {
      const { numAffectedRows = 0n } = await sql`
        UPDATE drop_cycle SET step = 'done', claimed_until = NULL, waiting_for = NULL, failure_detail = NULL,
          finished_at = ${finishedAt}, proof = ${JSON.stringify(proof)}::jsonb
        WHERE ${isHeld(cycle)}`.execute(db);
      if (numAffectedRows === 0n) throw isLost(cycle);
    },
    find: async (id) => {
      const row = await db.selectFrom('drop_cycle').selectAll().where('id', '=', id).executeTakeFirst();
      return row ? toCycle(row) : null;
    },
    list: async (limit) => {
      const rows = await db.selectFrom('drop_cycle').selectAll().orderBy('id', 'desc').limit(limit).execute();
      return rows.map(toCycle);
    },
    findProof: async (id) => {
      const row = await db.selectFrom('drop_cycle').select('proof').where('id', '=', id).executeTakeFirst();
      return row?.proof ?? null;
    },
    findFetch: async () => {
      const row = await db.selectFrom('drop_fetch').selectAll().executeTakeFirst();
      return row ? { firstTriedAt: row.first_tried_at, fetchedAt: row.fetched_at, outcome: row.outcome } : null;
    },
  };
}

/** Every claim has its own number, so that a command that has lost its claim cannot change anything. */
function isHeld({ id, claim }: ClaimedCycle): RawBuilder<boolean> {
  return sql<boolean>`(id = ${id} AND claim = ${claim} AND finished_at IS NULL)`;
}

function isLost({ id }: ClaimedCycle): Error {
  return new Error(`cycle ${id} is held by another command`);
}

async function advance(tx: Tx, cycle: ClaimedCycle, change: CycleChange): Promise<ClaimedCycle> {
  const { archive = cycle.archive, policy = cycle.policy, erasureList: list = cycle.erasureList } = change;
  // The time is from another clock. least and greatest ignore null.
  const received = sql<Date>`least(${change.receivedAt ?? null}::timestamptz, now())`;
  const { rows } = await sql<CycleRow>`
    UPDATE drop_cycle SET step = ${change.step}, waiting_for = NULL, failure_detail = NULL,
      archive_name = ${archive?.name ?? null}, archive_key = ${archive?.key ?? null},
      archive_bytes = ${archive?.bytes ?? null}, archive_sha256 = ${archive?.sha256 ?? null},
      downloaded_at = CASE WHEN ${change.archive !== undefined} THEN least(downloaded_at, ${received}) ELSE downloaded_at END,
      policy = ${policy && JSON.stringify(policy)}::jsonb,
      lists = ${JSON.stringify(change.lists ?? cycle.lists)}::jsonb,
      erasure_list = ${list && JSON.stringify(list)}::jsonb,
      erasure_ids = erasure_ids || ${change.erasureList ? [change.erasureList.id] : []}::bigint[],
      devices_found = devices_found + ${(change.erasureList?.devices ?? 0) - (change.failedErasure?.devices ?? 0)},
      remaining = ${JSON.stringify(change.remaining ?? cycle.remaining)}::jsonb,
      statuses = ${JSON.stringify(change.statuses ?? cycle.statuses)}::jsonb,
      verified_at = CASE WHEN ${change.isVerified ?? false} THEN now() ELSE verified_at END
    WHERE ${isHeld(cycle)} RETURNING *`.execute(tx);
  if (!rows[0]) throw isLost(cycle);
  if (change.archive)
    await sql`UPDATE drop_fetch SET outcome = 'archive', fetched_at = greatest(fetched_at, ${received})`.execute(tx);
  await insertUploads(tx, cycle.id, change.uploads ?? []);
  if (change.refused) await noteRefused(tx, cycle.id, change.refused);
  return toClaimed(rows[0]);
}

/** A file that was not accepted but has a message was refused. */
async function noteRefused(
  db: Database | Tx,
  cycleId: number,
  { name, message }: { readonly name: string; readonly message: string },
): Promise<void> {
  await sql`
    UPDATE drop_upload SET sent_at = NULL, message = ${message}
    WHERE cycle_id = ${cycleId} AND name = ${name} AND accepted_at IS NULL`.execute(db);
}

async function insertUploads(db: Database | Tx, cycleId: number, uploads: readonly NewUpload[]): Promise<void> {
  if (uploads.length === 0) return;
  const values = uploads.map(({ name, isAmendment, key, items, bytes, sha256 }) => ({
    cycle_id: cycleId,
    name,
    is_amendment: isAmendment,
    object_key: key,
    items,
    bytes,
    sha256,
  }));
  await db.insertInto('drop_upload').values(values).execute();
}

type CycleRow = Selectable<DropCycleTable>;

const stored = z.object({
  step: z.enum(dropSteps),
  waiting_for: z.enum(dropWaits).nullable(),
  policy: z
    .object({ shared: z.enum(['opted_out', 'deleted']), other_lists: z.enum(['leave', 'not_found']) })
    .nullable(),
  lists: z.array(z.object({ name: z.string(), list: z.string(), items: z.int(), invalidLines: z.int() })),
  erasure_list: z.object({ id: z.int(), listId: z.int(), devices: z.int() }).nullable(),
  remaining: z.array(z.object({ table: z.string(), shard: z.int(), replica: z.int(), rows: z.int() })),
  statuses: z.record(z.string(), z.int()),
});

function toCycle(row: CycleRow): DropCycle {
  const { step, waiting_for, policy, lists, erasure_list, remaining, statuses } = stored.parse(row);
  const { archive_name: name, archive_key: key, archive_bytes: bytes, archive_sha256: sha256 } = row;
  const hasArchive = name !== null && key !== null && bytes !== null && sha256 !== null;
  return {
    id: row.id,
    step,
    waitingFor: waiting_for,
    failure: row.failure_detail,
    archive: hasArchive ? { name, key, bytes, sha256 } : null,
    policy,
    lists,
    devicesFound: row.devices_found,
    erasureIds: row.erasure_ids.map(Number),
    erasureList: erasure_list,
    remaining,
    statuses,
    startedAt: row.started_at,
    downloadedAt: row.downloaded_at,
    verifiedAt: row.verified_at,
    finishedAt: row.finished_at,
  };
}

function toClaimed(row: CycleRow): ClaimedCycle {
  return { ...toCycle(row), claim: row.claim };
}

function toUpload(row: Selectable<DropUploadTable>): DropUpload {
  return {
    name: row.name,
    isAmendment: row.is_amendment,
    key: row.object_key,
    items: row.items,
    bytes: row.bytes,
    sha256: row.sha256,
    sentAt: row.sent_at,
    acceptedAt: row.accepted_at,
    isRefused: row.accepted_at === null && row.message !== null,
    message: row.message,
  };
}
