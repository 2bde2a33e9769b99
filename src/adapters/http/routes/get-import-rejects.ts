import type { ImportLogStore } from '../../../ports/import-log-store.ts';
import { type RejectsDeps, getImportRejects as getRejects } from '../../../usecases/rejects/request-rejects.ts';
import { partnerOf } from '../authentication.ts';
import { defineRoute } from '../operation.ts';
import { rejectsExample, rejectsRecord, rejectsSchema } from '../records/rejects.ts';
import { importLogParams } from '../schemas.ts';

export const getImportRejects = defineRoute({
  id: 'getImportRejects',
  tag: 'imports',
  method: 'GET',
  path: '/v1/marketplace/import/:import_log_id/rejects',
  scope: 'marketplace:read',
  summary: 'Get the export of rejected rows',
  description: 'Returns the state and the progress of the export of all rejected rows.',
  params: importLogParams,
  response: { status: 200, description: 'The export.', schema: rejectsSchema, example: rejectsExample },
  problems: {
    not_found: { detail: 'The rejected rows of import log 1 have not been requested, or the export has expired.' },
  },
  handler: (deps: RejectsDeps & { readonly importLogs: ImportLogStore }) => async (request) =>
    rejectsRecord(await getRejects(deps, partnerOf(request), request.params.import_log_id)),
});
