import { z } from 'zod';
import type { ImportLogStore } from '../../../ports/import-log-store.ts';
import { type RejectsDeps, requestImportRejects as requestRejects } from '../../../usecases/rejects/request-rejects.ts';
import { partnerOf } from '../authentication.ts';
import { importLogNotFound, invalidRequest } from '../documentation.ts';
import { defineRoute } from '../operation.ts';
import { rejectsExample, rejectsRecord, rejectsSchema } from '../records/rejects.ts';
import { importLogParams } from '../schemas.ts';
import { bucketCredentials, credentialProblems, credentialsSchema } from './queue-import.ts';

type Deps = RejectsDeps & { readonly importLogs: ImportLogStore; readonly canAssumeRoles: boolean };

export const requestImportRejects = defineRoute({
  id: 'requestImportRejects',
  tag: 'imports',
  method: 'POST',
  path: '/v1/marketplace/import/:import_log_id/rejects',
  isRepeatable: true,
  scope: 'marketplace:write',
  summary: 'Export all rejected rows of an import',
  description:
    'Reads the files of a finished import again and writes every rejected row to gzipped CSV files under `rejects/<import_log_id>/` in your prefix of the shared bucket. The export does not delay your imports. Requesting it again returns the same export until it expires. After a failure, it reads the failed files again. A file that has changed since the import fails with `file_changed`. Rows are validated with your current attributes. For your own bucket, send the credentials again.',
  params: importLogParams,
  body: z.strictObject({ credentials: credentialsSchema.optional() }).meta({ id: 'RequestImportRejects' }).default({}),
  bodyExamples: { sharedBucket: { summary: 'From the shared bucket', value: {} } },
  response: {
    status: 202,
    description: 'The export, which may have started already.',
    schema: rejectsSchema,
    example: {
      ...rejectsExample,
      status: 0,
      files_total: 0,
      files_done: 0,
      bytes_read: 0,
      bytes_total: 0,
      rows: 0,
      finished_at: null,
      expires_at: null,
    },
    location: '/v1/marketplace/import/1/rejects',
  },
  problems: {
    ...importLogNotFound,
    ...invalidRequest({ pointer: '/reason', detail: 'Unknown field "reason".' }),
    rejects_not_available: { detail: 'Import log 1 has not finished.' },
    ...credentialProblems,
    too_many_open_jobs: { detail: 'The partner has 10 open exports of rejected rows, which is the limit.' },
  },
  handler: (deps: Deps) => async (request, reply) => {
    const { credentials: given } = request.body;
    const id = request.params.import_log_id;
    const found = await requestRejects(deps, partnerOf(request), id, given ? bucketCredentials(given) : null);
    reply.code(202).header('location', `/v1/marketplace/import/${id}/rejects`);
    return rejectsRecord(found);
  },
});
