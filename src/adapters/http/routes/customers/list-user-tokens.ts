import { z } from 'zod';
import { Failure } from '../../../../domain/failure.ts';
import type { CustomerStore } from '../../../../ports/partner-store.ts';
import { partnerOf } from '../../authentication.ts';
import { customerNotFound, invalidPage } from '../../documentation.ts';
import { defineRoute } from '../../operation.ts';
import { pageOf, readCursor } from '../../paging.ts';
import { userTokenExample, userTokenRecord, userTokenSchema } from '../../records/customer.ts';
import { customerParams, pageQuery } from '../../schemas.ts';

export const listUserTokens = defineRoute({
  id: 'listUserTokens',
  tag: 'customers',
  method: 'GET',
  path: '/v1/customers/:customer_id/tokens',
  scope: 'customers:read',
  summary: "List a customer's user tokens",
  description:
    'Lists the user tokens of a customer, without the tokens themselves. Revoked tokens are listed for 90 days. Tokens from an OpenID Connect issuer are not listed.',
  params: customerParams,
  query: pageQuery(1000, 100),
  response: {
    status: 200,
    description: 'A page of user tokens, ordered by ID.',
    schema: z.array(userTokenSchema).max(1000),
    example: [userTokenExample],
    isPaged: true,
  },
  problems: { ...customerNotFound, ...invalidPage(1000) },
  handler:
    ({ customers }: { readonly customers: Pick<CustomerStore, 'find' | 'listTokens'> }) =>
    async (request, reply) => {
      const { limit, cursor } = request.query;
      const { id: partnerId } = partnerOf(request);
      const { customer_id: customerId } = request.params;
      if (!(await customers.find(partnerId, customerId)))
        throw new Failure('not_found', `Customer ${customerId} does not exist.`);
      const [afterId = 0] = readCursor(cursor, 'user-tokens', 1);
      const items = await customers.listTokens(partnerId, { afterId, limit: limit + 1 }, customerId);
      return pageOf(request, reply, { list: 'user-tokens', limit, items }, ({ id }) => [id]).map((token) =>
        userTokenRecord(token, customerId),
      );
    },
});
