import type { Tx } from '../connect.ts';

/** Before any other lock: nobody else looks at the lane or adds to it until the transaction ends. */
export async function lockLane(tx: Tx, partnerId: number): Promise<{ prefix: string }> {
  return tx
    .selectFrom('partner')
    .select('prefix')
    .where('id', '=', partnerId)
    .forNoKeyUpdate() // as strong as a new job's UPDATE, but not in the way of rows that refer to the partner
    .executeTakeFirstOrThrow();
}
