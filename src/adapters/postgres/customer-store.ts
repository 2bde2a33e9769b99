import type { PartnerId } from '../../domain/ids.ts';
import { sql } from 'kysely';
import type { Customer, UserToken } from '../../domain/customer.ts';
import type { CustomerStore, Page, TokenHolder } from '../../ports/partner-store.ts';
import type { Database, Tx } from './db/tables.ts';
import { explainUniqueViolation } from './db/unique-violation.ts';

export const customerNameTaken = 'Customer names must be unique for a partner, and this one is already in use.';

export function postgresCustomerStore(db: Database): CustomerStore {
  const ofPartner = (partnerId: PartnerId) =>
    db.selectFrom('customer').select(['id', 'name']).where('partner_id', '=', partnerId);
  return {
    create: (partnerId, name) => explainUniqueViolation(customerNameTaken, () => insertCustomer(db, partnerId, name)),
    list: (partnerId, { afterId, limit }) =>
      ofPartner(partnerId).where('id', '>', afterId).orderBy('id').limit(limit).execute(),
    findByName: async (partnerId, name) =>
      (await ofPartner(partnerId).where('name', '=', name).executeTakeFirst()) ?? null,
    findByTokenHash: (partnerId, tokenHash) => selectCustomerOfToken(db, partnerId, tokenHash),
    find: async (partnerId, customerId) =>
      (await ofPartner(partnerId).where('id', '=', customerId).executeTakeFirst()) ?? null,
    addToken: async (partnerId, customerId, tokenHash) =>
      (await insertUserToken(db, partnerId, customerId, tokenHash))?.id ?? null,
    listTokens: (partnerId, page, customerId) => selectUserTokens(db, partnerId, page, customerId),
    revokeToken: (partnerId, tokenId) => revokeUserToken(db, partnerId, tokenId),
  };
}

export async function insertCustomer(db: Database | Tx, partnerId: PartnerId, name: string): Promise<Customer> {
  return db
    .insertInto('customer')
    .values({ partner_id: partnerId, name })
    .returning(['id', 'name'])
    .executeTakeFirstOrThrow();
}

/**
 * Creates a user token. The statement itself looks up the customer, so a token cannot refer to another partner's
 * customer.
 */
export async function insertUserToken(
  db: Database | Tx,
  partnerId: PartnerId,
  customerId: number,
  tokenHash: Uint8Array,
  createdBy: string | null = null,
): Promise<{ readonly id: number; readonly createdAt: Date } | null> {
  const made = await db
    .insertInto('user_token')
    .columns(['partner_id', 'customer_id', 'token_hash', 'created_by'])
    .expression((eb) =>
      eb
        .selectFrom('customer')
        .select((customer) => [
          'partner_id',
          'id',
          customer.val(Buffer.from(tokenHash)).as('token_hash'),
          sql<string | null>`${createdBy}::text`.as('created_by'),
        ])
        .where('partner_id', '=', partnerId)
        .where('id', '=', customerId),
    )
    .returning(['id', 'created_at as createdAt'])
    .executeTakeFirst();
  return made ?? null;
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

async function selectUserTokens(
  db: Database,
  partnerId: PartnerId,
  page: Page,
  customerId: number | undefined,
): Promise<UserToken[]> {
  const ofPartner = db
    .selectFrom('user_token as token')
    .innerJoin('customer', 'customer.id', 'token.customer_id')
    .where('token.partner_id', '=', partnerId)
    .where('token.id', '>', page.afterId)
    .orderBy('token.id')
    .limit(page.limit)
    .select([
      'token.id',
      'token.created_at',
      'token.revoked_at',
      'token.created_by',
      'customer.id as customer_id',
      'customer.name',
    ]);
  const ofCustomer = customerId === undefined ? ofPartner : ofPartner.where('token.customer_id', '=', customerId);
  const rows = await ofCustomer.execute();
  return rows.map((row) => ({
    id: row.id,
    customer: { id: row.customer_id, name: row.name },
    createdAt: row.created_at,
    revokedAt: row.revoked_at,
    createdBy: row.created_by,
  }));
}
