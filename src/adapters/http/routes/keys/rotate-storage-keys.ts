import { z } from 'zod';
import { defaultOverlapHours, maxOverlapHours, maxStorageKeys } from '../../../../domain/own-access.ts';
import { type StorageKeyDeps, rotateStorageKeys as rotate } from '../../../../usecases/access/manage-storage-keys.ts';
import { invalidRequest, ownQuota } from '../../documentation.ts';
import type { IdempotencyDeps } from '../../idempotency.ts';
import { defineRoute } from '../../operation.ts';
import { ownChangeOf } from '../../own-change.ts';
import { rotatedStorageKeyRecord, rotatedStorageKeySchema, storageKeyExample } from '../../records/storage-key.ts';

const body = z
  .strictObject({
    overlap_hours: z.int().min(0).max(maxOverlapHours).default(defaultOverlapHours).meta({
      description: 'How long the other keys keep working. With 0, they stop working before the new key is created.',
    }),
  })
  .meta({ id: 'RotateStorageKeys' });

export const rotateStorageKeys = defineRoute({
  id: 'rotateStorageKeys',
  tag: 'keys',
  method: 'POST',
  path: '/v1/storage-keys/rotate',
  scope: 'storage:write',
  summary: 'Rotate the storage keys',
  description: `Creates an access key for your storage user, whose secret is shown only in this response. All other access keys stop working after the overlap. A storage user can have ${maxStorageKeys} access keys. Even if a rotation fails, for example because the user already has that many keys, the other keys stop working after the overlap. A repeated request with the same \`Idempotency-Key\` creates no second key, and its response does not contain the secret.`,
  body,
  bodyExamples: { overlap: { summary: 'An overlap of three days', value: { overlap_hours: 72 } } },
  response: {
    status: 201,
    description: 'The new access key, and the keys that it replaces.',
    schema: rotatedStorageKeySchema,
    example: {
      ...storageKeyExample,
      secret_access_key: '<shown once>',
      replaces: [
        {
          access_key_id: '7KQ2V4MZJ9T1X5B8N3WD',
          created_at: '2026-11-18T09:00:00.000Z',
          created_by: null,
          expires_at: '2026-11-21T09:00:00.000Z',
        },
      ],
    },
  },
  problems: {
    ...invalidRequest({ pointer: '/overlap_hours', detail: 'overlap_hours must be at most 168.' }),
    ...ownQuota(
      `A partner can have ${maxStorageKeys} storage keys. Wait until an overlap has ended, or rotate without an overlap.`,
    ),
    storage_keys_not_available: { detail: 'The API has no storage administrator credentials.' },
  },
  handler: (deps: StorageKeyDeps & IdempotencyDeps) => async (request, reply) => {
    const change = ownChangeOf(deps, request, reply);
    const { keys, secret } = await rotate(deps, change, request.body.overlap_hours);
    reply.code(201);
    return rotatedStorageKeyRecord(keys, secret);
  },
});
