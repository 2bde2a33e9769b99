import { z } from 'zod';
import { ownAccessBounds } from '../../../../domain/own-access.ts';
import type { KeyIssuer } from '../../../../ports/crypto.ts';
import { type OwnCustomerDeps, createOwnUserToken } from '../../../../usecases/access/manage-own-access.ts';
import { customerNotFound, invalidRequest, ownQuota } from '../../documentation.ts';
import type { IdempotencyDeps } from '../../idempotency.ts';
import { defineRoute } from '../../operation.ts';
import { ownChangeOf } from '../../own-change.ts';
import { createdUserTokenRecord, createdUserTokenSchema, userTokenExample } from '../../records/customer.ts';
import { customerParams } from '../../schemas.ts';

export const createUserToken = defineRoute({
  id: 'createUserToken',
  tag: 'customers',
  method: 'POST',
  path: '/v1/customers/:customer_id/tokens',
  scope: 'customers:write',
  summary: 'Issue a user token',
  description: `Issues a user token for a customer, which you send as \`x-user-token\` together with an API key. The token is shown only in this response and never expires. A partner can have ${ownAccessBounds.userTokens} user tokens. A repeated request with the same \`Idempotency-Key\` issues no second token, and its response does not contain the token.`,
  params: customerParams,
  /** Many clients send an empty object with every request. */
  body: z.strictObject({}).nullish().meta({ id: 'CreateUserToken' }),
  bodyExamples: { nothing: { summary: 'An empty body (optional)', value: {} } },
  response: {
    status: 201,
    description: 'The user token.',
    schema: createdUserTokenSchema,
    example: { ...userTokenExample, user_token: 'inlet_live_user_<shown once>' },
  },
  problems: {
    ...customerNotFound,
    ...invalidRequest({ pointer: '/reason', detail: 'Unknown field "reason".' }),
    ...ownQuota(
      'A partner can have up to 100,000 user tokens, including those that expired or were revoked in the last 90 days.',
    ),
  },
  handler: (deps: OwnCustomerDeps & { readonly userTokens: KeyIssuer } & IdempotencyDeps) => async (request, reply) => {
    const { customer_id: customerId } = request.params;
    const change = ownChangeOf(deps, request, reply);
    const { made, secret } = await createOwnUserToken(deps, change, customerId);
    reply.code(201);
    return createdUserTokenRecord(made, customerId, secret);
  },
});
