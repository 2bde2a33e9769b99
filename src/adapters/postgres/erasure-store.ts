import { sql } from 'kysely';
import { createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { type Erasure, type SignedProof, erasureWaits, maxOpenErasures, textOfIds } from '../../domain/erasure.ts';
import { Failure } from '../../domain/failure.ts';
import type { PartnerId } from '../../domain/ids.ts';
import { openStatuses } from '../../domain/job.ts';
import type { Sealer } from '../../ports/crypto.ts';
import type { ErasureStore, NewErasure, StoredProof } from '../../ports/erasure.ts';
import type { Database, Tx } from './db/tables.ts';
import { type RequestRecords, runIdempotently } from './idempotency-store.ts';
import { toJobStatus } from './lane/jobs.ts';
import { lockLane } from './lane/lane-store.ts';

type Deps = { readonly db: Database; readonly sealer: Sealer; readonly requests: RequestRecords };

/** Binds the ciphertext to the partner and to the digest of the IDs. */
export function sealedIdsContext(partnerId: PartnerId, digest: string): string {
  return `partner ${partnerId} erasure ${digest}`;
}

export function postgresErasureStore(deps: Deps): ErasureStore {
  const { db } = deps;
  return {
    request: (partnerId, erasure, idempotency) =>
      runIdempotently(deps, { partnerId, idempotency, result: z.int(), hasQuota: false }, (tx) =>
        insertErasure(tx, deps.sealer, partnerId, erasure),
      ),
    list: async (partnerId, { beforeId, limit, filter: { statuses, createdFrom, createdTo } }) => {
      const rows = await db
        .selectFrom('erasure')
        .select(erasureColumns)
        .select(hasProof)
        .where('partner_id', '=', partnerId)
        .where('id', '<', beforeId)
        .$if(statuses !== undefined, (query) => query.where('status', 'in', statuses ?? []))
        .$if(createdFrom !== undefined, (query) => query.where('requested_at', '>=', createdFrom ?? new Date(0)))
        .$if(createdTo !== undefined, (query) => query.where('requested_at', '<', createdTo ?? new Date(0)))
        .orderBy('id', 'desc')
        .limit(limit)
        .execute();
      return rows.map(toErasure);
    },
    find: async (partnerId, id) => {
      const row = await db
        .selectFrom('erasure')
        .select(erasureColumns)
        .select(hasProof)
        .where('id', '=', id)
        .where('partner_id', '=', partnerId)
        .executeTakeFirst();
      return row ? toErasure(row) : null;
    },
    findProof: async (partnerId, id) => {
      const row = await db
        .selectFrom('erasure')
        .select(['proof', 'proof_csv'])
        .where('id', '=', id)
        .where('partner_id', '=', partnerId)
        .executeTakeFirst();
      return row ? toProof(row) : null;
    },
  };
}

async function insertErasure(tx: Tx, sealer: Sealer, partnerId: PartnerId, erasure: NewErasure): Promise<number> {
  // Concurrent requests of the partner wait, so that the limit is exact.
  await lockLane(tx, partnerId);
  const { open } = await tx
    .selectFrom('erasure')
    .select((row) => row.fn.countAll<number>().as('open'))
    .where('partner_id', '=', partnerId)
    .where('status', 'in', openStatuses)
    .executeTakeFirstOrThrow();
  if (open >= maxOpenErasures)
    throw new Failure('too_many_open_jobs', `The partner has ${maxOpenErasures} open deletions, which is the limit.`);
  const { source, requestedBy } = erasure;
  const values = { partner_id: partnerId, requested_by: requestedBy };
  const { id } = await tx
    .insertInto('erasure')
    .values('objectKey' in source ? { ...values, object_key: source.objectKey } : { ...values, ...seal(source) })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;

  function seal({ ids }: { readonly ids: readonly string[] }) {
    const salt = randomBytes(16).toString('hex');
    const digest = createHash('sha256').update(salt).update(textOfIds(ids)).digest('hex');
    const { keyId, bytes } = sealer.seal(JSON.stringify(ids), sealedIdsContext(partnerId, digest));
    return { key_id: keyId, sealed: Buffer.from(bytes), ids: ids.length, ids_salt: salt, ids_digest: digest };
  }
}

export const erasureColumns = [
  'id',
  'status',
  'object_key',
  'ids',
  'invalid_lines',
  'waiting_for',
  'failure_code',
  'failure_detail',
  'requested_at',
  'finished_at',
] as const;
const hasProof = sql<boolean>`erasure.proof IS NOT NULL`.as('has_proof');

type ErasureRow = {
  readonly id: number;
  readonly status: number;
  readonly object_key: string | null;
  readonly ids: number;
  readonly invalid_lines: number;
  readonly waiting_for: string | null;
  readonly failure_code: string | null;
  readonly failure_detail: string | null;
  readonly requested_at: Date;
  readonly finished_at: Date | null;
  readonly has_proof: boolean;
};

export function toErasure(row: ErasureRow): Erasure {
  return {
    id: row.id,
    status: toJobStatus(row.status),
    isFile: row.object_key !== null,
    ids: row.ids,
    invalidLines: row.invalid_lines,
    waitingFor: erasureWaits.find((wait) => wait === row.waiting_for) ?? null,
    failure: row.failure_code === null ? null : { code: row.failure_code, detail: row.failure_detail ?? '' },
    hasProof: row.has_proof,
    requestedAt: row.requested_at,
    finishedAt: row.finished_at,
  };
}

export function toProof(row: {
  readonly proof: SignedProof | null;
  readonly proof_csv: string | null;
}): StoredProof | null {
  return row.proof === null || row.proof_csv === null ? null : { proof: row.proof, csv: row.proof_csv };
}
