import { sql } from 'kysely';
import { z } from 'zod';
import type { Customer } from '../../../domain/customer.ts';
import { Failure } from '../../../domain/failure.ts';
import type { PartnerId } from '../../../domain/ids.ts';
import { requireRoom } from '../../../domain/own-access.ts';
import type { OwnCustomers, OwnUserToken } from '../../../ports/own-access.ts';
import { customerNameTaken, insertCustomer, insertUserToken } from '../customer-store.ts';
import type { Tx } from '../db/tables.ts';
import { explainUniqueViolation } from '../db/unique-violation.ts';
import { type OwnChangeDeps, notFound, runOwnChange } from './run-change.ts';

const customerResult: z.ZodType<Customer> = z.object({ id: z.number(), name: z.string() });
const tokenResult: z.ZodType<OwnUserToken> = z.object({
  id: z.number(),
  createdAt: z.coerce.date(),
  revokedAt: z.coerce.date().nullable(),
  createdBy: z.string().nullable(),
});

export function postgresOwnCustomers(deps: OwnChangeDeps): OwnCustomers {
  return {
    create: (change, name) =>
      explainUniqueViolation(customerNameTaken, () =>
        runOwnChange(deps, change, { result: customerResult }, async (tx) => {
          const partnerId = change.caller.partner.id;
          requireRoom('customers', await countRows(tx, 'customer', partnerId));
          return insertCustomer(tx, partnerId, name);
        }),
      ),
    rename: (change, customerId, name) =>
      explainUniqueViolation(customerNameTaken, () =>
        runOwnChange(deps, change, { result: customerResult }, async (tx) => {
          const renamed = await tx
            .updateTable('customer')
            .set({ name })
            .where('partner_id', '=', change.caller.partner.id)
            .where('id', '=', customerId)
            .returning(['id', 'name'])
            .executeTakeFirst();
          if (!renamed) throw notFound('Customer', customerId);
          return renamed;
        }),
      ),
    remove: async (change, customerId) => {
      await runOwnChange(deps, change, { result: z.null(), hasQuota: false }, async (tx) => {
        // Removes a customer of the current partner only. The API role cannot delete rows itself.
        const { rows } = await sql<{
          removed: boolean | null;
        }>`SELECT remove_customer(${customerId}) AS removed`.execute(tx);
        const removed = rows[0]?.removed ?? null;
        if (removed === null) throw notFound('Customer', customerId);
        if (!removed) throw new Failure('customer_in_use', `Customer ${customerId} still has audiences.`);
        return null;
      });
    },
    addToken: (change, customerId, tokenHash) =>
      runOwnChange(deps, change, { result: tokenResult }, async (tx, { createdBy }) => {
        const partnerId = change.caller.partner.id;
        requireRoom('userTokens', await countRows(tx, 'user_token', partnerId));
        const made = await insertUserToken(tx, partnerId, customerId, tokenHash, createdBy);
        if (!made) throw notFound('Customer', customerId);
        return { ...made, revokedAt: null, createdBy };
      }),
    revokeToken: async (change, { customerId, tokenId }) => {
      await runOwnChange(deps, change, { result: z.null(), hasQuota: false }, async (tx) => {
        const revoked = await tx
          .updateTable('user_token')
          .set({ revoked_at: sql<Date>`coalesce(revoked_at, now())` })
          .where('partner_id', '=', change.caller.partner.id)
          .where('customer_id', '=', customerId)
          .where('id', '=', tokenId)
          .returning('id')
          .executeTakeFirst();
        if (!revoked) throw notFound('User token', tokenId);
        return null;
      });
    },
  };
}

async function countRows(tx: Tx, table: 'customer' | 'user_token', partnerId: PartnerId): Promise<number> {
  const { used } = await tx
    .selectFrom(table)
    .select(({ fn }) => fn.count<number>('id').as('used'))
    .where('partner_id', '=', partnerId)
    .executeTakeFirstOrThrow();
  return used;
}
