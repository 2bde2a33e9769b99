import { z } from 'zod';
import { maxKeysPerDelete } from '../../../domain/limits.ts';
import { type QueueDeleteDeps, queueDelete } from '../../../usecases/accept/queue-import.ts';
import { partnerOf } from '../authentication.ts';
import { invalidRequest, tooManyOpenJobs } from '../documentation.ts';
import { type IdempotencyDeps, idempotentRequestOf } from '../idempotency.ts';
import { defineRoute } from '../operation.ts';
import { queuedSchema } from '../records/import-log.ts';
import { keyType } from '../schemas.ts';
import { queuedResponse } from './queue-import.ts';

const body = z
  .strictObject({
    key_type: keyType,
    keys: z.array(z.string().min(1).max(200)).min(1).max(maxKeysPerDelete).meta({
      description:
        'The attributes whose data is deleted. `key_type` determines whether these are attribute IDs or foreign keys.',
    }),
  })
  .meta({ id: 'DeleteAttributeData' });

export const deleteAttributeData = defineRoute({
  id: 'deleteAttributeData',
  tag: 'imports',
  method: 'DELETE',
  path: '/v1/marketplace/import',
  scope: 'marketplace:write',
  summary: 'Delete attribute data',
  description:
    'Queues the deletion of all data for the attributes in `keys`. A delete cannot be undone. Deletes and imports run in submission order, so data from earlier imports is deleted and data from later imports remains. The import log has `log_type` 1, and `total_rows` is the number of deleted rows.',
  body,
  bodyExamples: {
    foreignKeys: { summary: 'By your foreign keys', value: { key_type: 1, keys: ['travel', 'music'] } },
    attributeIds: { summary: 'By attribute IDs', value: { key_type: 0, keys: ['1001'] } },
  },
  response: {
    status: 202,
    description: 'The delete is queued.',
    schema: queuedSchema,
    example: { import_log_id: 2 },
    location: '/v1/marketplace/import/2',
  },
  problems: {
    ...invalidRequest({ pointer: '/keys', detail: 'keys must not be empty.' }),
    unknown_keys: {
      detail: '1 of 2 keys is unknown.',
      errors: [{ pointer: '/keys/1', detail: 'Unknown key "golf".' }],
    },
    ...tooManyOpenJobs,
  },
  handler: (deps: QueueDeleteDeps & IdempotencyDeps) => async (request, reply) => {
    const { key_type, keys } = request.body;
    const idempotent = idempotentRequestOf(deps, request, reply);
    return queuedResponse(reply, await queueDelete(deps, partnerOf(request), { keyType: key_type, keys }, idempotent));
  },
});
