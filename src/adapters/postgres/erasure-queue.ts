import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { type ErasedRows, type RemainingRows, erasureSteps } from '../../domain/erasure.ts';
import type { PartnerId } from '../../domain/ids.ts';
import { jobStatus } from '../../domain/job.ts';
import type { Sealer } from '../../ports/crypto.ts';
import type { BatchChange, ClaimedBatch, ErasureIndexStore, ErasureQueue, ListedErasure } from '../../ports/erasure.ts';
import type { Database } from './db/tables.ts';
import { claimBatch, countOpenLoads } from './erasure-batches.ts';
import { sealedIdsContext } from './erasure-store.ts';

export function postgresErasureQueue(db: Database, sealer: Sealer): ErasureQueue {
  return {
    claim: (leaseSeconds) =>
      db.transaction().execute(async (tx) => {
        const batchId = await claimBatch(tx, leaseSeconds);
        if (batchId === null) return null;
        const { rows } = await sql<BatchRow>`SELECT * FROM erasure_batch WHERE id = ${batchId}`.execute(tx);
        return toBatch(tx, rows[0]);
      }),
    renew: async (batch, leaseSeconds) =>
      wasChanged(
        await sql`
          UPDATE erasure_batch SET claimed_until = now() + make_interval(secs => ${leaseSeconds})
          WHERE ${isHeld(batch)}`.execute(db),
      ),
    advance: (batch, change) => advance(db, batch, change),
    postpone: async (batch, seconds, waitingFor) => {
      await sql`
        UPDATE erasure_batch SET claimed_until = now() + make_interval(secs => ${seconds}), waits_for = ${waitingFor}
        WHERE ${isHeld(batch)}`.execute(db);
      await sql`
        UPDATE erasure SET waiting_for = ${waitingFor}
        WHERE batch_id = ${batch.id} AND status = ${jobStatus.running} AND waiting_for IS DISTINCT FROM ${waitingFor}`.execute(
        db,
      );
    },
    listRequests: (batch) => selectRequests(db, sealer, batch),
    recordList: async (batch, id, { ids, invalidLines, salt, digest }) => {
      await sql`
        UPDATE erasure SET ids = ${ids}, invalid_lines = ${invalidLines}, ids_salt = ${salt}, ids_digest = ${digest}
        WHERE ${isOpenRequest(batch, id)}`.execute(db);
    },
    fail: async (batch, id, { code, detail }) => {
      await sql`
        UPDATE erasure SET status = ${jobStatus.failed}, failure_code = ${code}, failure_detail = ${detail},
          sealed = NULL, key_id = NULL, waiting_for = NULL, finished_at = now()
        WHERE ${isOpenRequest(batch, id)}`.execute(db);
    },
    findOpenLists: async () => {
      const { rows } = await sql<{ list_id: number }>`
        SELECT list_id FROM erasure_batch WHERE finished_at IS NULL`.execute(db);
      return rows.map(({ list_id }) => list_id);
    },
    countOpenLoads: ({ lastLoadId, partnerIds }) => countOpenLoads(db, lastLoadId, partnerIds),
    ownersOf: async (fileIds) => {
      const { rows } = await sql<{ id: number; partner_id: PartnerId }>`
        SELECT id, partner_id FROM job_file WHERE id = ANY (${fileIds}::bigint[])`.execute(db);
      return new Map(rows.map(({ id, partner_id }) => [id, partner_id]));
    },
    noteErased: async (found) => {
      await sql`
        INSERT INTO erased_partner (partner_id, erased_at, rows)
        SELECT partner.id, now(), one.rows FROM partner JOIN unnest(
          ${found.map(({ partnerId }) => partnerId)}::bigint[],
          ${found.map(({ rows }) => rows)}::bigint[]) AS one (id, rows) ON one.id = partner.id
        ON CONFLICT (partner_id) DO UPDATE
        SET erased_at = excluded.erased_at, rows = erased_partner.rows + excluded.rows`.execute(db);
    },
    finish: (batch, finishedAt, proofs) =>
      db.transaction().execute(async (tx) => {
        const ended = await sql`
          UPDATE erasure_batch SET step = 'done', claimed_until = NULL, finished_at = ${finishedAt}
          WHERE ${isHeld(batch)}`.execute(tx);
        if (!wasChanged(ended)) throw new Error(`batch ${batch.id} is held by another worker`);
        for (const { id, proof, csv } of proofs)
          await sql`
            UPDATE erasure SET status = ${jobStatus.done}, sealed = NULL, key_id = NULL, waiting_for = NULL,
              proof = ${JSON.stringify(proof)}::jsonb, proof_csv = ${csv}, finished_at = ${finishedAt}
            WHERE id = ${id} AND batch_id = ${batch.id} AND status = ${jobStatus.running}`.execute(tx);
      }),
  };
}

/** Every claim has its own number, so that a worker that has lost its claim cannot change anything. */
function isHeld({ id, claim }: ClaimedBatch): RawBuilder<boolean> {
  return sql<boolean>`(erasure_batch.id = ${id} AND erasure_batch.claim = ${claim} AND erasure_batch.finished_at IS NULL)`;
}

/** A request in the batch that this claim can still change. */
function isOpenRequest(batch: ClaimedBatch, id: number): RawBuilder<boolean> {
  return sql<boolean>`erasure.id = ${id} AND erasure.batch_id = ${batch.id} AND erasure.status = ${jobStatus.running}
    AND EXISTS (SELECT FROM erasure_batch WHERE ${isHeld(batch)})`;
}

function wasChanged({ numAffectedRows }: { readonly numAffectedRows?: bigint }): boolean {
  return (numAffectedRows ?? 0n) > 0n;
}

const step = z.enum(erasureSteps);
const erasedRows: z.ZodType<readonly ErasedRows[]> = z.array(
  z.object({ table: z.string(), shard: z.int(), partnerId: z.int(), rows: z.int() }),
);
const remainingRows: z.ZodType<readonly RemainingRows[]> = z.array(
  z.object({ table: z.string(), shard: z.int(), replica: z.int(), rows: z.int() }),
);

type BatchRow = {
  id: number;
  list_id: number;
  step: string;
  claim: number;
  last_load_id: number;
  rounds: number;
  first_fold_id: number | null;
  erased: unknown;
  remaining: unknown;
  started_at: Date;
  erased_at: Date | null;
};

async function toBatch(tx: Database, row: BatchRow | undefined): Promise<ClaimedBatch | null> {
  if (!row) return null;
  const { rows: partners } = await sql<{ id: PartnerId | null }>`
    SELECT DISTINCT partner_id AS id FROM erasure
    WHERE batch_id = ${row.id} AND status = ${jobStatus.running}`.execute(tx);
  const isOfAll = partners.some(({ id }) => id === null);
  return {
    id: row.id,
    listId: row.list_id,
    claim: row.claim,
    step: step.parse(row.step),
    rounds: row.rounds,
    lastLoadId: row.last_load_id,
    firstFoldId: row.first_fold_id,
    erased: erasedRows.parse(row.erased),
    remaining: remainingRows.parse(row.remaining),
    startedAt: row.started_at,
    erasedAt: row.erased_at,
    partnerIds: isOfAll ? null : partners.flatMap(({ id }) => id ?? []),
  };
}

async function advance(db: Database, batch: ClaimedBatch, change: BatchChange): Promise<ClaimedBatch> {
  const { rows } = await sql<BatchRow>`
    UPDATE erasure_batch SET step = ${change.step}, rounds = ${change.rounds ?? batch.rounds},
      first_fold_id = coalesce(first_fold_id, ${change.firstFoldId ?? null}::bigint),
      list_id = CASE WHEN ${change.isNewList ?? false} THEN nextval('erasure_list_id') ELSE list_id END,
      last_load_id = CASE WHEN ${change.includesNewLoads ?? false} THEN (SELECT last_value FROM load_id) ELSE last_load_id END,
      erased = ${JSON.stringify(change.erased ?? batch.erased)}::jsonb,
      remaining = ${JSON.stringify(change.remaining ?? batch.remaining)}::jsonb,
      erased_at = CASE WHEN ${change.isErased ?? false} THEN now() ELSE erased_at END
    WHERE ${isHeld(batch)} RETURNING *`.execute(db);
  await sql`UPDATE erasure SET waiting_for = NULL WHERE batch_id = ${batch.id} AND waiting_for IS NOT NULL`.execute(db);
  const changed = await toBatch(db, rows[0]);
  if (!changed) throw new Error(`batch ${batch.id} is held by another worker`);
  return changed;
}

const sealedIds = z.array(z.string());

async function selectRequests(db: Database, sealer: Sealer, batch: ClaimedBatch): Promise<ListedErasure[]> {
  const rows = await db
    .selectFrom('erasure')
    .select([
      'id',
      'partner_id',
      'object_key',
      'key_id',
      'sealed',
      'ids',
      'invalid_lines',
      'ids_salt',
      'ids_digest',
      'requested_at',
    ])
    .where('batch_id', '=', batch.id)
    .where('status', '=', jobStatus.running)
    .orderBy('id')
    .execute();
  return rows.map((row) => {
    const sourceOf = (): ListedErasure['source'] => {
      if (row.object_key !== null) return { kind: 'file', key: row.object_key };
      if (row.sealed === null || row.key_id === null || row.partner_id === null) return { kind: 'received' };
      const context = sealedIdsContext(row.partner_id, row.ids_digest);
      try {
        const opened = sealer.open({ keyId: row.key_id, bytes: row.sealed }, context);
        return { kind: 'ids', ids: sealedIds.parse(JSON.parse(opened)) };
      } catch {
        return { kind: 'unreadable' };
      }
    };
    return {
      id: row.id,
      partnerId: row.partner_id,
      ids: row.ids,
      invalidLines: row.invalid_lines,
      idsSalt: row.ids_salt,
      idsDigest: row.ids_digest,
      requestedAt: row.requested_at,
      source: sourceOf(),
    };
  });
}

export function postgresErasureIndex(db: Database): ErasureIndexStore {
  return {
    recordErased: (folded, again) =>
      db.transaction().execute(async (tx) => {
        await sql`
          INSERT INTO index_fold (partner_id, fold_id, folded_at)
          SELECT partner_id, fold_id, now() FROM unnest(
            ${folded.partners.map(({ partnerId }) => partnerId)}::bigint[],
            ${folded.partners.map(({ foldId }) => foldId)}::bigint[]) AS one (partner_id, fold_id)
          ON CONFLICT (partner_id) DO UPDATE SET fold_id = excluded.fold_id, folded_at = excluded.folded_at
          WHERE index_fold.fold_id < excluded.fold_id`.execute(tx);
        await sql`
          UPDATE index_audience entry SET fold_id = one.fold_id, devices = one.devices
          FROM unnest(
            ${folded.audiences.map(({ audienceId }) => audienceId)}::bigint[],
            ${folded.audiences.map(({ generation }) => generation)}::integer[],
            ${folded.audiences.map(({ foldId }) => foldId)}::bigint[],
            ${folded.audiences.map(({ devices }) => devices)}::bigint[]) AS one (audience_id, generation, fold_id, devices)
          WHERE entry.audience_id = one.audience_id AND entry.generation = one.generation
            AND entry.fold_id <= one.fold_id`.execute(tx);
        // No row has this version, so only the bitmaps of these attributes are replaced.
        await sql`
          INSERT INTO index_change (partner_id, from_version, attribute_ids)
          SELECT partner_id, ${Number.MAX_SAFE_INTEGER}::bigint, array_agg(attribute_id) FROM unnest(
            ${again.attributes.map(({ partnerId }) => partnerId)}::bigint[],
            ${again.attributes.map(({ attributeId }) => attributeId)}::bigint[]) AS one (partner_id, attribute_id)
          GROUP BY partner_id`.execute(tx);
        await sql`
          INSERT INTO index_change (partner_id, audience_id, from_version)
          SELECT DISTINCT partner_id, audience_id, 1 FROM unnest(
            ${again.audiences.map(({ partnerId }) => partnerId)}::bigint[],
            ${again.audiences.map(({ audienceId }) => audienceId)}::bigint[]) AS one (partner_id, audience_id)`.execute(
          tx,
        );
        // The matched devices of all audiences are counted again.
        await sql`SELECT nextval('known_devices_version')`.execute(tx);
      }),
  };
}
