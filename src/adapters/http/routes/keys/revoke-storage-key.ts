import { z } from 'zod';
import { type StorageKeyDeps, revokeStorageKey as revoke } from '../../../../usecases/access/manage-storage-keys.ts';
import { invalidRequest } from '../../documentation.ts';
import type { IdempotencyDeps } from '../../idempotency.ts';
import { defineRoute } from '../../operation.ts';
import { ownChangeOf } from '../../own-change.ts';
import { storageKeyParams } from '../../schemas.ts';

export const revokeStorageKey = defineRoute({
  id: 'revokeStorageKey',
  tag: 'keys',
  method: 'DELETE',
  path: '/v1/storage-keys/:access_key_id',
  scope: 'storage:write',
  summary: 'Revoke a storage key',
  description:
    'Revokes an access key of your storage user permanently, and keeps the others. The storage rejects the next request with it. If the response is an error, repeat the request until the response is 204 or 404. If only the removal failed, workers remove the key within about ten seconds after the storage is available again. You can revoke your last key. To get another one, rotate your storage keys. Uploads over HTTP need no storage key. If the key is already revoked, the response is 404.',
  params: storageKeyParams,
  /** Many clients send an empty object with every request. */
  body: z.strictObject({}).nullish().meta({ id: 'RevokeStorageKey' }),
  bodyExamples: { nothing: { summary: 'An empty body (optional)', value: {} } },
  response: { status: 204, description: 'The storage key is revoked.' },
  problems: {
    not_found: { detail: 'Storage key 7KQ2V4MZJ9T1X5B8N3WD does not exist.' },
    ...invalidRequest({ pointer: '/reason', detail: 'Unknown field "reason".' }),
    storage_keys_not_available: { detail: 'The API has no storage administrator credentials.' },
  },
  handler: (deps: StorageKeyDeps & IdempotencyDeps) => async (request, reply) => {
    await revoke(deps, ownChangeOf(deps, request, reply), request.params.access_key_id);
    return reply.code(204).send();
  },
});
