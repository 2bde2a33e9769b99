import { z } from 'zod';
import type { OwnCustomerDeps } from '../../../../usecases/access/manage-own-access.ts';
import { customerNotFound, invalidRequest } from '../../documentation.ts';
import type { IdempotencyDeps } from '../../idempotency.ts';
import { defineRoute } from '../../operation.ts';
import { ownChangeOf } from '../../own-change.ts';
import { customerParams } from '../../schemas.ts';

export const removeCustomer = defineRoute({
  id: 'removeCustomer',
  tag: 'customers',
  method: 'DELETE',
  path: '/v1/customers/:customer_id',
  scope: 'customers:write',
  summary: 'Remove a customer',
  description:
    'Removes a customer that has no audiences, together with its user tokens. Its console sessions and console links stop working with the next request. Its name can be used again.',
  params: customerParams,
  /** Many clients send an empty object with every request. */
  body: z.strictObject({}).nullish().meta({ id: 'RemoveCustomer' }),
  bodyExamples: { nothing: { summary: 'An empty body (optional)', value: {} } },
  response: { status: 204, description: 'The customer is removed.' },
  problems: {
    ...customerNotFound,
    ...invalidRequest({ pointer: '/reason', detail: 'Unknown field "reason".' }),
    customer_in_use: { detail: 'Customer 31 still has audiences.' },
  },
  handler: (deps: OwnCustomerDeps & IdempotencyDeps) => async (request, reply) => {
    await deps.ownCustomers.remove(ownChangeOf(deps, request, reply), request.params.customer_id);
    return reply.code(204).send();
  },
});
