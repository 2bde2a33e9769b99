import type { UserToken } from '../../../domain/customer.ts';
import type { Page } from '../../../ports/customer-store.ts';
import type { Database } from '../connect.ts';

export async function selectUserTokens(db: Database, partnerId: number, page: Page): Promise<UserToken[]> {
  const rows = await db
    .selectFrom('user_token as token')
    .innerJoin('customer', 'customer.id', 'token.customer_id')
    .where('token.partner_id', '=', partnerId)
    .where('token.id', '>', page.afterId)
    .orderBy('token.id')
    .limit(page.limit)
    .select(['token.id', 'token.created_at', 'token.revoked_at', 'customer.id as customer_id', 'customer.name'])
    .execute();
  return rows.map((row) => ({
    id: row.id,
    customer: { id: row.customer_id, name: row.name },
    createdAt: row.created_at,
    revokedAt: row.revoked_at,
  }));
}
