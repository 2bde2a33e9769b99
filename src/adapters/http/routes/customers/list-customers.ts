import { z } from 'zod';
import type { CustomerStore } from '../../../../ports/partner-store.ts';
import { partnerOf } from '../../authentication.ts';
import { invalidPage } from '../../documentation.ts';
import { defineRoute } from '../../operation.ts';
import { pageOf, readCursor } from '../../paging.ts';
import { customerExample, customerRecord, customerSchema } from '../../records/customer.ts';
import { pageQuery } from '../../schemas.ts';

export const listCustomers = defineRoute({
  id: 'listCustomers',
  tag: 'customers',
  method: 'GET',
  path: '/v1/customers',
  scope: 'customers:read',
  summary: 'List customers',
  description: 'Lists the customers for which you can load audiences.',
  query: pageQuery(1000, 100),
  response: {
    status: 200,
    description: 'A page of customers, ordered by ID.',
    schema: z.array(customerSchema).max(1000),
    example: [customerExample],
    isPaged: true,
  },
  problems: invalidPage(1000),
  handler: (deps: { readonly customers: Pick<CustomerStore, 'list'> }) => async (request, reply) => {
    const { limit, cursor } = request.query;
    const [afterId = 0] = readCursor(cursor, 'customers', 1);
    const items = await deps.customers.list(partnerOf(request).id, { afterId, limit: limit + 1 });
    return pageOf(request, reply, { list: 'customers', limit, items }, ({ id }) => [id]).map(customerRecord);
  },
});
