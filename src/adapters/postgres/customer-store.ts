import type { PartnerId } from '../../domain/ids.ts';
import { sql } from 'kysely';
import type { UserToken } from '../../domain/customer.ts';
import type { CustomerStore, Page, TokenHolder } from '../../ports/partner-store.ts';
import type { Database } from './db/tables.ts';
import { explainUniqueViolation } from './db/unique-violation.ts';

const taken = 'Customer names must be unique for a partner, and this one is already in use.';

export function postgresCustomerStore(db: Database): CustomerStore {
  const ofPartner = (partnerId: PartnerId) =>
    db.selectFrom('customer').select(['id', 'name']).where('partner_id', '=', partnerId);
  return {
    create: (partnerId, name) =>
      explainUniqueViolation(taken, () =>
        db
          .insertInto('customer')
          .values({ partner_id: partnerId, name })
          .returning(['id', 'name'])
          .executeTakeFirstOrThrow(),
      ),
    list: (partnerId, { afterId, limit }) =>
      ofPartner(partnerId).where('id', '>', afterId).orderBy('id').limit(limit).execute(),
    findByName: async (partnerId, name) =>
      (await ofPartner(partnerId).where('name', '=', name).executeTakeFirst()) ?? null,
    findByTokenHash: (partnerId, tokenHash) => selectCustomerOfToken(db, partnerId, tokenHash),
    addToken: (partnerId, customerId, tokenHash) => insertUserToken(db, partnerId, customerId, tokenHash),
    listTokens: (partnerId, page) => selectUserTokens(db, partnerId, page),
    revokeToken: (partnerId, tokenId) => revokeUserToken(db, partnerId, tokenId),
  };
}

/**
 * Creates a user token. The statement itself looks up the customer, so a token cannot refer to another partner's
 * customer.
 */
async function insertUserToken(
  db: Database,
  partnerId: PartnerId,
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

async function revokeUserToken(db: Database, partnerId: PartnerId, tokenId: number): Promise<boolean> {
  const revoked = await db
    .updateTable('user_token')
    .set({ revoked_at: sql<Date>`coalesce(revoked_at, now())` })
    .where('partner_id', '=', partnerId)
    .where('id', '=', tokenId)
    .returning('id')
    .executeTakeFirst();
  return revoked !== undefined;
}

async function selectCustomerOfToken(
  db: Database,
  partnerId: PartnerId,
  tokenHash: Uint8Array,
): Promise<TokenHolder | null> {
  const found = await db
    .selectFrom('user_token as token')
    .innerJoin('customer', 'customer.id', 'token.customer_id')
    .select(['customer.id', 'customer.name', 'token.id as tokenId'])
    .where('token.token_hash', '=', Buffer.from(tokenHash))
    .where('token.partner_id', '=', partnerId)
    .where('token.revoked_at', 'is', null)
    .executeTakeFirst();
  return found ? { customer: { id: found.id, name: found.name }, tokenId: found.tokenId } : null;
}

async function selectUserTokens(db: Database, partnerId: PartnerId, page: Page): Promise<UserToken[]> {
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
