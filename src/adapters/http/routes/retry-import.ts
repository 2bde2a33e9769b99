import { z } from 'zod';
import { retryImport as retry } from '../../../usecases/accept/change-imports.ts';
import type { QueueImportDeps } from '../../../usecases/accept/queue-import.ts';
import { partnerOf } from '../authentication.ts';
import { importLogNotFound, invalidRequest, tooManyOpenJobs } from '../documentation.ts';
import { type IdempotencyDeps, idempotentRequestOf } from '../idempotency.ts';
import { defineRoute } from '../operation.ts';
import { queuedSchema } from '../records/import-log.ts';
import { importLogParams, retriedFilesField } from '../schemas.ts';
import { bucketCredentials, credentialProblems, credentialsSchema, queuedResponse } from './queue-import.ts';

export const retryImport = defineRoute({
  id: 'retryImport',
  tag: 'imports',
  method: 'POST',
  path: '/v1/marketplace/import/:import_log_id/retry',
  scope: 'marketplace:write',
  summary: 'Retry a failed import',
  description:
    'Queues a failed or canceled import again with the same path and settings, behind the jobs that are waiting. All files are imported again, which changes nothing for files that were already loaded. With `files: "failed"`, only the files that failed or were canceled are imported, in their current version. That is not possible with `mode: "replace"`. The new import log names the import that it repeats. For your own bucket, send the credentials again, because Inlet deletes them when an import ends.',
  params: importLogParams,
  body: z
    .strictObject({ files: retriedFilesField, credentials: credentialsSchema.optional() })
    .meta({ id: 'RetryImport' })
    .default({}),
  bodyExamples: { sharedBucket: { summary: 'From the shared bucket', value: {} } },
  response: {
    status: 202,
    description: 'The import is queued again.',
    schema: queuedSchema,
    example: { import_log_id: 2 },
    location: '/v1/marketplace/import/2',
  },
  problems: {
    ...importLogNotFound,
    ...invalidRequest({ pointer: '/reason', detail: 'Unknown field "reason".' }),
    import_not_retryable: { detail: 'Import log 1 has not finished.' },
    ...credentialProblems,
    ...tooManyOpenJobs,
  },
  handler: (deps: QueueImportDeps & IdempotencyDeps) => async (request, reply) => {
    const given = request.body.credentials;
    const credentials = given ? bucketCredentials(given) : null;
    const idempotent = idempotentRequestOf(deps, request, reply);
    const importLogId = request.params.import_log_id;
    const how = { credentials, files: request.body.files ?? 'all' };
    return queuedResponse(reply, await retry(deps, partnerOf(request), importLogId, how, idempotent));
  },
});
