import { z } from 'zod';
import { ownAccessBounds } from '../../../../domain/own-access.ts';
import { type OwnCustomerDeps, createOwnCustomer } from '../../../../usecases/access/manage-own-access.ts';
import { invalidRequest, ownQuota } from '../../documentation.ts';
import type { IdempotencyDeps } from '../../idempotency.ts';
import { defineRoute } from '../../operation.ts';
import { ownChangeOf } from '../../own-change.ts';
import { customerExample, customerName, customerRecord, customerSchema } from '../../records/customer.ts';

export const createCustomer = defineRoute({
  id: 'createCustomer',
  tag: 'customers',
  method: 'POST',
  path: '/v1/customers',
  scope: 'customers:write',
  summary: 'Create a customer',
  description: `Creates a customer for which you load audiences. A partner can have ${ownAccessBounds.customers} customers.`,
  body: z.strictObject({ name: customerName }).meta({ id: 'CreateCustomer' }),
  bodyExamples: { name: { summary: 'A customer', value: { name: 'Globex' } } },
  response: { status: 201, description: 'The customer.', schema: customerSchema, example: customerExample },
  problems: {
    ...invalidRequest({ pointer: '/name', detail: 'name is required.' }),
    ...ownQuota('A partner can have 10000 customers.'),
  },
  handler: (deps: OwnCustomerDeps & IdempotencyDeps) => async (request, reply) => {
    const made = await createOwnCustomer(deps, ownChangeOf(deps, request, reply), request.body.name);
    reply.code(201);
    return customerRecord(made);
  },
});
