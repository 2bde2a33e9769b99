import type { Database } from '../connect.ts';

/** The customer is looked up in the statement itself: no token can join one partner with another's customer. */
export async function insertUserToken(
  db: Database,
  partnerId: number,
  customerId: number,
  tokenHash: Uint8Array,
): Promise<number | null> {
  const made = await db
    .insertInto('user_token')
    .columns(['partner_id', 'customer_id', 'token_hash'])
    .expression((eb) =>
      eb
        .selectFrom('customer')
        .select((customer) => ['partner_id', 'id', customer.val(Buffer.from(tokenHash)).as('token_hash')])
        .where('partner_id', '=', partnerId)
        .where('id', '=', customerId),
    )
    .returning('id')
    .executeTakeFirst();
  return made?.id ?? null;
}
