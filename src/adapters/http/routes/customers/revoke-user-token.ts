import { z } from 'zod';
import type { OwnCustomerDeps } from '../../../../usecases/access/manage-own-access.ts';
import { invalidRequest } from '../../documentation.ts';
import type { IdempotencyDeps } from '../../idempotency.ts';
import { defineRoute } from '../../operation.ts';
import { ownChangeOf } from '../../own-change.ts';
import { userTokenParams } from '../../schemas.ts';

export const revokeUserToken = defineRoute({
  id: 'revokeUserToken',
  tag: 'customers',
  method: 'DELETE',
  path: '/v1/customers/:customer_id/tokens/:token_id',
  scope: 'customers:write',
  summary: 'Revoke a user token',
  description:
    'Revokes a user token permanently. Every process rejects the next request with it. Revoking a token again changes nothing.',
  params: userTokenParams,
  /** Many clients send an empty object with every request. */
  body: z.strictObject({}).nullish().meta({ id: 'RevokeUserToken' }),
  bodyExamples: { nothing: { summary: 'An empty body (optional)', value: {} } },
  response: { status: 204, description: 'The user token is revoked.' },
  problems: {
    not_found: { detail: 'User token 42 does not exist.' },
    ...invalidRequest({ pointer: '/reason', detail: 'Unknown field "reason".' }),
  },
  handler: (deps: OwnCustomerDeps & IdempotencyDeps) => async (request, reply) => {
    const { customer_id: customerId, token_id: tokenId } = request.params;
    await deps.ownCustomers.revokeToken(ownChangeOf(deps, request, reply), { customerId, tokenId });
    return reply.code(204).send();
  },
});
