import type { Customer } from '../../../domain/customer.ts';
import type { Database } from '../connect.ts';

export async function selectCustomerOfToken(
  db: Database,
  partnerId: number,
  tokenHash: Uint8Array,
): Promise<Customer | null> {
  const found = await db
    .selectFrom('user_token as token')
    .innerJoin('customer', 'customer.id', 'token.customer_id')
    .select(['customer.id', 'customer.name'])
    .where('token.token_hash', '=', Buffer.from(tokenHash))
    .where('token.partner_id', '=', partnerId)
    .where('token.revoked_at', 'is', null)
    .executeTakeFirst();
  return found ?? null;
}
