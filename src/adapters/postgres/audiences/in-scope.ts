import { sql, type RawBuilder } from 'kysely';
import type { AudienceScope } from '../../../domain/audience.ts';

/** Which rows of `audience` a call may see. Written so that the index over partner and customer can be used. */
export function inScope({ partnerId, customerId }: AudienceScope): RawBuilder<boolean> {
  const customer = customerId === null ? sql`IS NULL` : sql`= ${customerId}`;
  return sql<boolean>`(audience.partner_id = ${partnerId} AND audience.customer_id ${customer})`;
}
