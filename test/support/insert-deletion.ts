import type { Client } from 'pg';
import { proofCsvExample, proofExample } from '../../src/adapters/http/records/deletion.ts';

/** Adds a deletion that is done and has a proof. Returns its ID. */
export async function insertDeletion(client: Client, partnerId: number, id?: number): Promise<number> {
  const { rows } = await client.query<{ id: string }>(
    `INSERT INTO erasure (id, partner_id, requested_by, status, ids, proof, proof_csv, finished_at)
     VALUES (coalesce($1, nextval('erasure_id_seq')), $2, 'test', 2, 1, $3, $4, now()) RETURNING id`,
    [id ?? null, partnerId, JSON.stringify(proofExample), proofCsvExample],
  );
  return Number(rows[0]?.id);
}
