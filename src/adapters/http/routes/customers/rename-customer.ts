import { z } from 'zod';
import { type OwnCustomerDeps, renameOwnCustomer } from '../../../../usecases/access/manage-own-access.ts';
import { customerNotFound, invalidRequest } from '../../documentation.ts';
import type { IdempotencyDeps } from '../../idempotency.ts';
import { defineRoute } from '../../operation.ts';
import { ownChangeOf } from '../../own-change.ts';
import { customerExample, customerName, customerRecord, customerSchema } from '../../records/customer.ts';
import { customerParams } from '../../schemas.ts';

export const renameCustomer = defineRoute({
  id: 'renameCustomer',
  tag: 'customers',
  method: 'PATCH',
  path: '/v1/customers/:customer_id',
  scope: 'customers:write',
  summary: 'Rename a customer',
  description:
    'Renames a customer. Its audiences and user tokens are not affected. Tokens from an OpenID Connect issuer contain the name, so change the claim at the same time.',
  params: customerParams,
  body: z.strictObject({ name: customerName }).meta({ id: 'RenameCustomer' }),
  bodyExamples: { name: { summary: 'A new name', value: { name: 'Globex Europe' } } },
  response: {
    status: 200,
    description: 'The customer with its new name.',
    schema: customerSchema,
    example: { ...customerExample, name: 'Globex Europe' },
  },
  problems: { ...customerNotFound, ...invalidRequest({ pointer: '/name', detail: 'name is required.' }) },
  handler: (deps: OwnCustomerDeps & IdempotencyDeps) => async (request, reply) => {
    const { customer_id: id } = request.params;
    return customerRecord(await renameOwnCustomer(deps, ownChangeOf(deps, request, reply), id, request.body.name));
  },
});
