import { z } from 'zod';
import { type OwnKeyDeps, revokeOwnKey } from '../../../../usecases/access/manage-own-access.ts';
import { invalidRequest, keyNotFound } from '../../documentation.ts';
import type { IdempotencyDeps } from '../../idempotency.ts';
import { defineRoute } from '../../operation.ts';
import { ownChangeOf } from '../../own-change.ts';
import { keyParams } from '../../schemas.ts';

export const revokeKey = defineRoute({
  id: 'revokeKey',
  tag: 'keys',
  method: 'DELETE',
  path: '/v1/keys/:key_id',
  scope: 'keys:write',
  summary: 'Revoke an API key',
  description:
    'Revokes a key permanently. Every process rejects the next request with it, and console sessions that were created from it end. Keys that it created keep working. The last key that can manage keys needs `force=true`. Revoking a key again changes nothing.',
  params: keyParams,
  query: z.strictObject({
    force: z
      .enum(['true', 'false'])
      .default('false')
      .meta({ description: 'Whether to revoke even the last key that can manage keys.', examples: ['true'] }),
  }),
  /** Many clients send an empty object with every request. */
  body: z.strictObject({}).nullish().meta({ id: 'RevokeApiKey' }),
  bodyExamples: { nothing: { summary: 'An empty body (optional)', value: {} } },
  response: { status: 204, description: 'The key is revoked.' },
  problems: {
    ...keyNotFound,
    ...invalidRequest({ pointer: '/reason', detail: 'Unknown field "reason".' }),
    last_managing_key: {
      detail: 'Key 17 is your last key with the scope "keys:write". Add force=true to revoke it.',
    },
  },
  handler: (deps: OwnKeyDeps & IdempotencyDeps) => async (request, reply) => {
    const isForced = request.query.force === 'true';
    await revokeOwnKey(deps, ownChangeOf(deps, request, reply), request.params.key_id, isForced);
    return reply.code(204).send();
  },
});
