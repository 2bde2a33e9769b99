import type { Tx } from '../connect.ts';
import type { KeptRequest, RequestName } from './request-records.ts';
import { endOfTime } from './end-of-time.ts';

export async function selectRequest(tx: Tx, name: RequestName): Promise<KeptRequest | null> {
  const found = await tx
    .selectFrom('accepted_request')
    .select(['fingerprint', 'result'])
    .where('partner_id', '=', name.partnerId)
    .where('key_hash', '=', name.keyHash)
    .where('accepted_at', '>', endOfTime)
    .executeTakeFirst();
  return found ?? null;
}
