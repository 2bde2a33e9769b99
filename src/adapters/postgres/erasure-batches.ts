import { type RawBuilder, sql } from 'kysely';
import { type OpenBatch, erasureWaits, maxRequestsPerBatch, nextBatch } from '../../domain/erasure.ts';
import type { PartnerId } from '../../domain/ids.ts';
import { importMode } from '../../domain/import-log.ts';
import { jobStatus, openStatuses } from '../../domain/job.ts';
import { advisoryLocks } from './db/advisory-locks.ts';
import type { Database, Tx } from './db/tables.ts';
import { oldestRepair } from './db/repairs.ts';
import { expireReceived } from './operator-erasures.ts';

/** Claims or starts a batch and returns its ID. The lock makes claims wait for each other, so that one worker runs a batch. */
export async function claimBatch(tx: Tx, leaseSeconds: number): Promise<number | null> {
  await sql`SELECT pg_advisory_xact_lock(${sql.lit(advisoryLocks.erasure)})`.execute(tx);
  await expireReceived(tx);
  const next = nextBatch(await selectOpenBatches(tx));
  const batchId = next === 'new' ? await startBatch(tx) : next;
  if (batchId === null) return null;
  await sql`
    UPDATE erasure_batch SET claim = claim + 1, waits_for = NULL,
      claimed_until = now() + make_interval(secs => ${leaseSeconds})
    WHERE id = ${batchId}`.execute(tx);
  return batchId;
}

/** The batch that has waited the longest comes first. A command can begin a batch long before its list is complete. */
async function selectOpenBatches(tx: Tx): Promise<OpenBatch[]> {
  const { rows } = await sql<{ id: number; is_due: boolean; waits_for: string | null }>`
    SELECT id, coalesce(claimed_until < now(), true) AS is_due, waits_for FROM erasure_batch
    WHERE finished_at IS NULL AND step <> 'receive' ORDER BY claim = 0, claimed_until, id`.execute(tx);
  return rows.map(({ id, is_due: isDue, waits_for: wait }) => ({
    id,
    isDue,
    waitsFor: erasureWaits.find((one) => one === wait) ?? null,
  }));
}

/** More requests than a batch can have, because some of them belong to partners with open loads or have a file. */
const requestsRead = 10 * maxRequestsPerBatch;

/**
 * All waiting requests of partners without open loads become one batch. If the oldest request belongs to a partner with
 * open loads, this partner gets a separate batch, so that only its requests wait for the loads. A partner with an open
 * batch waits until that batch ends. Files can be long, so a batch contains only the oldest request with a file.
 */
async function startBatch(tx: Tx): Promise<number | null> {
  const { rows: waiting } = await sql<{ id: number; partner_id: PartnerId; is_file: boolean }>`
    SELECT id, partner_id, object_key IS NOT NULL AS is_file FROM erasure
    WHERE status = ${jobStatus.pending} AND batch_id IS NULL AND partner_id NOT IN (
      SELECT request.partner_id FROM erasure request JOIN erasure_batch batch ON batch.id = request.batch_id
      WHERE batch.finished_at IS NULL AND request.status = ${jobStatus.running} AND request.partner_id IS NOT NULL)
    ORDER BY id LIMIT ${requestsRead}`.execute(tx);
  const [oldest] = waiting;
  if (!oldest) return null;
  const { rows: loading } = await sql<{ partner_id: PartnerId }>`
    SELECT DISTINCT partner_id FROM ${openLoads} AS load`.execute(tx);
  const busy = new Set(loading.map(({ partner_id: id }) => id));
  const together = waiting.filter(({ partner_id: id }) =>
    busy.has(oldest.partner_id) ? id === oldest.partner_id : !busy.has(id),
  );
  const firstFile = together.find(({ is_file: isFile }) => isFile)?.id;
  const chosen = together.filter(({ id, is_file: isFile }) => !isFile || id === firstFile);
  const { rows } = await sql<{ id: number }>`
    INSERT INTO erasure_batch (last_load_id) SELECT last_value FROM load_id RETURNING id`.execute(tx);
  const batchId = rows[0]?.id ?? null;
  await sql`
    UPDATE erasure SET batch_id = ${batchId}, status = ${jobStatus.running}
    WHERE id = ANY (${chosen.slice(0, maxRequestsPerBatch).map(({ id }) => id)}::bigint[])`.execute(tx);
  return batchId;
}

/** Loads that are not published yet. A replacing job publishes its loads when all its files have been read. */
const openLoads: RawBuilder<unknown> = sql`(
      SELECT load_id, partner_id FROM job_file WHERE status IN (${sql.join(openStatuses)})
      UNION ALL
      SELECT file.load_id, file.partner_id FROM job JOIN import_log log ON log.job_id = job.id
        JOIN job_file file ON file.job_id = job.id
      WHERE job.status IN (${sql.join(openStatuses)}) AND log.mode = ${importMode.replace}
      UNION ALL
      SELECT load_id, partner_id FROM repair_load WHERE started_at > ${oldestRepair}
    )`;

/**
 * Counts open loads that were claimed up to the last load of the batch. Counts the loads of these partners, or of all
 * partners (null).
 */
export async function countOpenLoads(
  db: Database,
  lastLoadId: number,
  partnerIds: readonly PartnerId[] | null,
): Promise<number> {
  const { rows } = await sql<{ loads: number }>`
    SELECT count(*) AS loads FROM ${openLoads} AS load
    WHERE load_id <= ${lastLoadId} AND (${partnerIds === null} OR partner_id = ANY (${partnerIds ?? []}::bigint[]))`.execute(
    db,
  );
  return rows[0]?.loads ?? 0;
}
