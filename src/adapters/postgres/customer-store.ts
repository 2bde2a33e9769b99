import type { CustomerStore } from '../../ports/customer-store.ts';
import type { Database } from './connect.ts';
import { insertUserToken } from './customers/insert-user-token.ts';
import { revokeUserToken } from './customers/revoke-user-token.ts';
import { selectCustomerOfToken } from './customers/select-customer-of-token.ts';
import { selectUserTokens } from './customers/select-user-tokens.ts';
import { explainDoubles } from './explain-doubles.ts';

const taken = 'The names of customers are unique for a partner, and this one is taken.';

export function postgresCustomerStore(db: Database): CustomerStore {
  const ofPartner = (partnerId: number) =>
    db.selectFrom('customer').select(['id', 'name']).where('partner_id', '=', partnerId);
  return {
    create: (partnerId, name) =>
      explainDoubles(taken, () =>
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
