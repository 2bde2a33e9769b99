import { z } from 'zod';
import type { Customer } from '../../../domain/customer.ts';
import type { Secret } from '../../../domain/secret.ts';
import type { OwnUserToken } from '../../../ports/own-access.ts';
import { timestamp } from '../schemas.ts';

export const customerSchema = z.object({ customer_id: z.int(), name: z.string() }).meta({ id: 'Customer' });

export const customerName = z.string().max(400).meta({
  description:
    'A unique name of 1 to 100 characters. A token from an OpenID Connect issuer identifies the customer by exactly this name.',
});

export function customerRecord({ id, name }: Customer): z.input<typeof customerSchema> {
  return { customer_id: id, name };
}

export const customerExample = { customer_id: 31, name: 'Globex' } satisfies z.input<typeof customerSchema>;

export const userTokenSchema = z
  .object({
    token_id: z.int(),
    customer_id: z.int(),
    created_at: timestamp,
    created_by: z
      .string()
      .nullable()
      .meta({ description: 'The key or console session that created the token. Null for the operator.' }),
    revoked_at: timestamp.nullable(),
  })
  .meta({ id: 'UserToken' });

export const createdUserTokenSchema = userTokenSchema
  .extend({
    user_token: z.string().nullable().meta({
      description:
        'The user token, which is shown only here. Null in the response to a repeated request, because Inlet stores only a hash.',
    }),
  })
  .meta({ id: 'CreatedUserToken' });

export function userTokenRecord(token: OwnUserToken, customerId: number): z.input<typeof userTokenSchema> {
  return {
    token_id: token.id,
    customer_id: customerId,
    created_at: token.createdAt.toISOString(),
    created_by: token.createdBy,
    revoked_at: token.revokedAt?.toISOString() ?? null,
  };
}

/** The only place where a user token is written into a response. */
export function createdUserTokenRecord(
  token: OwnUserToken,
  customerId: number,
  secret: Secret | null,
): z.input<typeof createdUserTokenSchema> {
  return { ...userTokenRecord(token, customerId), user_token: secret?.reveal() ?? null };
}

export const userTokenExample = {
  token_id: 42,
  customer_id: 31,
  created_at: '2026-11-18T09:00:00.000Z',
  created_by: 'key 3',
  revoked_at: null,
} satisfies z.input<typeof userTokenSchema>;
