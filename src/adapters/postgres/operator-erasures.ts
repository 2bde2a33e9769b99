import { sql } from 'kysely';
import { erasureSteps } from '../../domain/erasure.ts';
import { jobStatus } from '../../domain/job.ts';
import type { OperatorErasures } from '../../ports/erasure.ts';
import type { Database, Tx } from './db/tables.ts';
import { erasureColumns, toErasure, toProof } from './erasure-store.ts';

/** A list that is still incomplete after this time belongs to a command that has died. */
const receiveHours = 24;

/** Ends requests whose command died. A worker then removes what was received. */
export async function expireReceived(tx: Tx): Promise<void> {
  const isExpired = sql`step = 'receive' AND started_at < now() - make_interval(hours => ${receiveHours})`;
  await sql`
    UPDATE erasure SET status = ${jobStatus.failed}, failure_code = 'invalid_id_list',
      failure_detail = 'The list was not received completely.', finished_at = now()
    WHERE status = ${jobStatus.running} AND batch_id IN (SELECT id FROM erasure_batch WHERE ${isExpired})`.execute(tx);
  await sql`UPDATE erasure_batch SET step = 'list' WHERE ${isExpired}`.execute(tx);
}

export function postgresOperatorErasures(db: Database): OperatorErasures {
  return {
    begin: (requestedBy) =>
      db.transaction().execute(async (tx) => {
        const { rows } = await sql<{ id: number; list_id: number }>`
          INSERT INTO erasure_batch (step, last_load_id) SELECT 'receive', last_value FROM load_id
          RETURNING id, list_id`.execute(tx);
        const [batch] = rows;
        if (!batch) throw new Error('a batch was not inserted');
        const { id } = await tx
          .insertInto('erasure')
          .values({ partner_id: null, batch_id: batch.id, status: jobStatus.running, requested_by: requestedBy })
          .returning('id')
          .executeTakeFirstOrThrow();
        return { id, listId: batch.list_id };
      }),
    complete: (id, { ids, invalidLines, salt, digest }) =>
      db.transaction().execute(async (tx) => {
        await sql`
          UPDATE erasure SET ids = ${ids}, invalid_lines = ${invalidLines}, ids_salt = ${salt}, ids_digest = ${digest}
          WHERE id = ${id}`.execute(tx);
        // The batch starts now, so loads that started while the list was being sent count as earlier loads.
        await sql`
          UPDATE erasure_batch SET step = 'list', started_at = now(), last_load_id = (SELECT last_value FROM load_id)
          WHERE step = 'receive' AND id = (SELECT batch_id FROM erasure WHERE id = ${id})`.execute(tx);
      }),
    abandon: (id, detail) =>
      db.transaction().execute(async (tx) => {
        await sql`
          UPDATE erasure SET status = ${jobStatus.failed}, failure_code = 'invalid_id_list', failure_detail = ${detail},
            finished_at = now() WHERE id = ${id} AND status = ${jobStatus.running}`.execute(tx);
        await sql`
          UPDATE erasure_batch SET step = 'list' WHERE step = 'receive' AND id = (SELECT batch_id FROM erasure WHERE id = ${id})`.execute(
          tx,
        );
      }),
    list: async (limit) => {
      const rows = await db
        .selectFrom('erasure')
        .leftJoin('partner', 'partner.id', 'erasure.partner_id')
        .leftJoin('erasure_batch', 'erasure_batch.id', 'erasure.batch_id')
        .select(erasureColumns.map((name) => `erasure.${name}` as const))
        .select([
          'partner.name as partner',
          'erasure_batch.step',
          sql<boolean>`erasure.proof IS NOT NULL`.as('has_proof'),
        ])
        .orderBy('erasure.id', 'desc')
        .limit(limit)
        .execute();
      return rows.map((row) => ({
        ...toErasure(row),
        partner: row.partner,
        step: erasureSteps.find((step) => step === row.step) ?? null,
      }));
    },
    findProof: async (id) => {
      const row = await db.selectFrom('erasure').select(['proof', 'proof_csv']).where('id', '=', id).executeTakeFirst();
      return row ? toProof(row) : null;
    },
  };
}
