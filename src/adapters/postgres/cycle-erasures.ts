import { sql } from 'kysely';
import { jobStatus } from '../../domain/job.ts';
import type { CycleErasures } from '../../ports/drop.ts';
import type { Database, Tx } from './db/tables.ts';
import { postgresOperatorErasures } from './operator-erasures.ts';

/** The erasures in a DROP cycle are recorded as erasures of an operator, under the name of the cycle. */
export function postgresCycleErasures(db: Database): CycleErasures {
  return {
    begin: async (cycleId) => {
      await cancel(db, cycleId);
      return postgresOperatorErasures(db).begin(nameOf(cycleId));
    },
    cancel: (cycleId) => cancel(db, cycleId),
    complete: async ({ id, devices }, { sha256 }) => {
      const isOpen = await db
        .selectFrom('erasure')
        .innerJoin('erasure_batch', 'erasure_batch.id', 'erasure.batch_id')
        .select('erasure.id')
        .where('erasure.id', '=', id)
        .where('erasure_batch.step', '=', 'receive')
        .executeTakeFirst();
      // The list comes from the archive, so it has the digest of the archive.
      const list = { ids: devices, invalidLines: 0, salt: '', digest: sha256 };
      if (isOpen) await postgresOperatorErasures(db).complete(id, list);
    },
    find: async (id) => {
      const row = await db
        .selectFrom('erasure')
        .select(['status', 'failure_detail', 'proof'])
        .where('id', '=', id)
        .executeTakeFirst();
      if (!row) return null;
      const erased = row.proof?.erased ?? [];
      return {
        isDone: row.status === jobStatus.done,
        failure: row.status === jobStatus.failed ? (row.failure_detail ?? 'The erasure failed.') : null,
        erased: erased.map(({ table, shard, rows_erased: rows }) => ({ table, shard, rows })),
      };
    },
  };
}

function nameOf(cycleId: number): string {
  return `drop cycle ${cycleId}`;
}

/** Workers drop the list, because no open batch needs it. */
async function cancel(db: Database, cycleId: number): Promise<void> {
  await db.transaction().execute(async (tx: Tx) => {
    const { rows } = await sql<{ batch_id: number }>`
      DELETE FROM erasure WHERE requested_by = ${nameOf(cycleId)} AND batch_id IN (
        SELECT id FROM erasure_batch WHERE step = 'receive' AND finished_at IS NULL)
      RETURNING batch_id`.execute(tx);
    await sql`DELETE FROM erasure_batch WHERE id = ANY (${rows.map((row) => row.batch_id)}::bigint[])`.execute(tx);
  });
}
