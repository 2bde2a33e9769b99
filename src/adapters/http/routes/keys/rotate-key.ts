import { z } from 'zod';
import { defaultOverlapHours, maxKeyDays, maxOverlapHours } from '../../../../domain/own-access.ts';
import { type OwnKeyDeps, rotateOwnKey } from '../../../../usecases/access/manage-own-access.ts';
import { invalidRequest, keyNotFound, ownQuota } from '../../documentation.ts';
import type { IdempotencyDeps } from '../../idempotency.ts';
import { defineRoute } from '../../operation.ts';
import { ownChangeOf } from '../../own-change.ts';
import {
  apiKeyRecord,
  apiKeyExample,
  apiKeySchema,
  createdKeyExample,
  createdKeyRecord,
  createdKeySchema,
} from '../../records/api-key.ts';
import { keyParams } from '../../schemas.ts';

const body = z
  .strictObject({
    overlap_hours: z
      .int()
      .min(0)
      .max(maxOverlapHours)
      .default(defaultOverlapHours)
      .meta({ description: 'How long the old key keeps working. With 0, it stops working at once.' }),
    expires_in_days: z
      .int()
      .min(1)
      .max(maxKeyDays)
      .nullable()
      .default(null)
      .meta({ description: 'Null for the lifetime of the old key.' }),
  })
  .meta({ id: 'RotateApiKey' });

export const rotateKey = defineRoute({
  id: 'rotateKey',
  tag: 'keys',
  method: 'POST',
  path: '/v1/keys/:key_id/rotate',
  scope: 'keys:write',
  summary: 'Rotate an API key',
  description:
    'Creates a key with the name, scopes, and lifetime of an existing key. The old key keeps working during the overlap. The caller must have all scopes of the key, and the new key expires no later than the key of the caller. A repeated request with the same `Idempotency-Key` creates no second key, and its response does not contain the key.',
  params: keyParams,
  body,
  bodyExamples: { overlap: { summary: 'An overlap of three days', value: { overlap_hours: 72 } } },
  response: {
    status: 201,
    description: 'The new API key, and the key that it replaces.',
    schema: createdKeySchema.extend({ replaces: apiKeySchema }).meta({ id: 'RotatedApiKey' }),
    example: {
      ...createdKeyExample,
      key_id: 18,
      replaces: { ...apiKeyExample, expires_at: '2026-11-21T09:00:00.000Z' },
    },
  },
  problems: {
    ...keyNotFound,
    ...invalidRequest({ pointer: '/overlap_hours', detail: 'overlap_hours must be at most 168.' }),
    ...ownQuota('A partner can have 1000 API keys, including those that ended in the last 90 days.'),
    scope_not_grantable: { detail: 'The caller lacks "audience:write" and cannot create a key with it.' },
  },
  handler: (deps: OwnKeyDeps & IdempotencyDeps) => async (request, reply) => {
    const { overlap_hours: overlapHours, expires_in_days: days } = request.body;
    const change = ownChangeOf(deps, request, reply);
    const { made, secret } = await rotateOwnKey(deps, change, request.params.key_id, { overlapHours, days });
    reply.code(201);
    return { ...createdKeyRecord(made.made, secret, change.caller), replaces: apiKeyRecord(made.old, change.caller) };
  },
});
