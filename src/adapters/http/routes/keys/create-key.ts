import { z } from 'zod';
import { scopes } from '../../../../domain/caller.ts';
import { maxKeyDays, ownAccessBounds } from '../../../../domain/own-access.ts';
import { type OwnKeyDeps, createOwnKey } from '../../../../usecases/access/manage-own-access.ts';
import { invalidRequest, ownQuota } from '../../documentation.ts';
import type { IdempotencyDeps } from '../../idempotency.ts';
import { defineRoute } from '../../operation.ts';
import { ownChangeOf } from '../../own-change.ts';
import { createdKeyExample, createdKeyRecord, createdKeySchema, scopeSchema } from '../../records/api-key.ts';

const body = z
  .strictObject({
    name: z.string().max(400).default('').meta({ description: 'The purpose of the key, at most 100 characters.' }),
    scopes: z
      .array(scopeSchema)
      .min(1)
      .max(scopes.length)
      .meta({ description: 'What the key can do. Only scopes that the caller has.' }),
    expires_in_days: z
      .int()
      .min(1)
      .max(maxKeyDays)
      .nullable()
      .default(null)
      .meta({ description: 'Null if the key never expires. A key never outlives the key that creates it.' }),
  })
  .meta({ id: 'CreateApiKey' });

export const createKey = defineRoute({
  id: 'createKey',
  tag: 'keys',
  method: 'POST',
  path: '/v1/keys',
  scope: 'keys:write',
  summary: 'Create an API key',
  description: `Creates an API key. The key is shown only in this response. It has no scope that the caller lacks, and it expires no later than the key that creates it. A partner can have ${ownAccessBounds.apiKeys} keys. A repeated request with the same \`Idempotency-Key\` creates no second key, and its response does not contain the key.`,
  body,
  bodyExamples: {
    imports: {
      summary: 'A key for imports that expires after a year',
      value: { name: 'nightly import', scopes: ['marketplace:read', 'marketplace:write'], expires_in_days: 365 },
    },
  },
  response: { status: 201, description: 'The new API key.', schema: createdKeySchema, example: createdKeyExample },
  problems: {
    ...invalidRequest({ pointer: '/scopes', detail: 'scopes is required.' }),
    ...ownQuota('A partner can have 1000 API keys, including those that ended in the last 90 days.'),
    scope_not_grantable: { detail: 'The caller lacks "audience:write" and cannot create a key with it.' },
  },
  handler: (deps: OwnKeyDeps & IdempotencyDeps) => async (request, reply) => {
    const { name, scopes: granted, expires_in_days: days } = request.body;
    const change = ownChangeOf(deps, request, reply);
    const { made, secret } = await createOwnKey(deps, change, { name, scopes: [...new Set(granted)], days });
    reply.code(201);
    return createdKeyRecord(made, secret, change.caller);
  },
});
