import { z } from 'zod';
import { type StorageKeyDeps, listStorageKeys as list } from '../../../../usecases/access/manage-storage-keys.ts';
import { partnerOf } from '../../authentication.ts';
import { defineRoute } from '../../operation.ts';
import { storageKeyExample, storageKeyRecord, storageKeySchema } from '../../records/storage-key.ts';

export const listStorageKeys = defineRoute({
  id: 'listStorageKeys',
  tag: 'keys',
  method: 'GET',
  path: '/v1/storage-keys',
  scope: 'storage:write',
  summary: 'List storage keys',
  description: 'Lists the access keys of your storage user, without their secrets.',
  response: {
    status: 200,
    description: 'The access keys.',
    schema: z.array(storageKeySchema).max(100),
    example: [storageKeyExample],
  },
  problems: { storage_keys_not_available: { detail: 'The API has no storage administrator credentials.' } },
  handler: (deps: StorageKeyDeps) => async (request) => (await list(deps, partnerOf(request))).map(storageKeyRecord),
});
