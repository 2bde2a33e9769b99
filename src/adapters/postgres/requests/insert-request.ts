import { sql } from 'kysely';
import type { Tx } from '../connect.ts';
import type { KeptRequest, RequestName } from './request-records.ts';
import { endOfTime } from './end-of-time.ts';

/**
 * In the place of one whose time is over. Whoever calls this holds the key, so there is no other; should there be one all
 * the same, nothing of the transaction may stay.
 */
export async function insertRequest(
  tx: Tx,
  { partnerId, keyHash }: RequestName,
  { fingerprint, result }: KeptRequest,
): Promise<void> {
  const values = { fingerprint: Buffer.from(fingerprint), result: JSON.stringify(result) };
  const kept = await tx
    .insertInto('accepted_request')
    .values({ partner_id: partnerId, key_hash: keyHash, ...values })
    .onConflict((conflict) =>
      conflict
        .columns(['partner_id', 'key_hash'])
        .doUpdateSet({ ...values, accepted_at: sql<Date>`now()` })
        .where('accepted_request.accepted_at', '<=', endOfTime),
    )
    .returning('partner_id')
    .executeTakeFirst();
  if (!kept) throw new Error('a request with the same key was carried out at the same time');
}
