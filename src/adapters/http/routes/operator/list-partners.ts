import { z } from 'zod';
import { defaultQuotas } from '../../../../domain/quota.ts';
import { invalidPage } from '../../documentation.ts';
import { defineRoute } from '../../operation.ts';
import { pageOf, readCursor } from '../../paging.ts';
import { operatorPartnerRecord, operatorPartnerSchema } from '../../records/operator.ts';
import { pageQuery } from '../../schemas.ts';
import { type WithOperator, operatorOf } from './operator-deps.ts';

const measured_at = '2026-11-15T01:12:18.654Z';

export const listOperatorPartners = defineRoute({
  id: 'listOperatorPartners',
  tag: 'operator',
  method: 'GET',
  path: '/v1/operator/partners',
  scope: 'operator',
  summary: 'List partners',
  description:
    'Lists all partners with their usage, in the order in which they were created. A page contains 50 entries by default.',
  query: pageQuery(100, 50),
  response: {
    status: 200,
    description: 'A page of partners.',
    schema: z.array(operatorPartnerSchema).max(100),
    example: [
      {
        partner_id: 1,
        name: 'acme',
        created_at: '2026-11-14T09:30:00.000Z',
        suspended_at: null,
        open_jobs: 3,
        api_keys: { valid: 1, all: 2 },
        last_active_at: '2026-11-15T01:12:18.268Z',
        quotas: {
          stored_rows: { limit: defaultQuotas.storedRows, used: 41_873_211, measured_at },
          stored_bytes: { limit: defaultQuotas.storedBytes, used: 719_401_322, measured_at },
          audiences: { limit: defaultQuotas.audiences, used: 12, measured_at: null },
          attributes: { limit: defaultQuotas.attributes, used: 240, measured_at: null },
          foreign_keys: { limit: defaultQuotas.foreignKeys, used: 240, measured_at: null },
          webhooks: { limit: defaultQuotas.webhooks, used: 1, measured_at: null },
          subscriptions: { limit: defaultQuotas.subscriptions, used: 2, measured_at: null },
          idempotency_keys: { limit: defaultQuotas.idempotencyKeys, used: 87, measured_at },
        },
        cli: [
          { action: 'show', command: 'inlet partner show acme' },
          { action: 'list_jobs', command: 'inlet jobs list --partner acme' },
          { action: 'list_keys', command: 'inlet key list --partner acme' },
          { action: 'suspend', command: 'inlet partner suspend acme' },
        ],
      },
    ],
    isPaged: true,
  },
  problems: invalidPage(100),
  handler: (deps: WithOperator) => async (request, reply) => {
    const { reads, quotas } = operatorOf(deps);
    const { limit, cursor } = request.query;
    const [afterId = 0] = readCursor(cursor, 'operator partners', 1);
    const items = await reads.listPartners({ afterId, limit: limit + 1 });
    const page = pageOf(request, reply, { list: 'operator partners', limit, items }, ({ id }) => [id]);
    return page.map((partner) => operatorPartnerRecord(partner, quotas));
  },
});
