import type { ImportLogStore } from '../../../ports/import-log-store.ts';
import type { LoadStage } from '../../../ports/load-stage.ts';
import type { AttributeStore } from '../../../ports/partner-store.ts';
import { listImportErrors as list } from '../../../usecases/follow/read-import-logs.ts';
import { partnerOf } from '../authentication.ts';
import { importLogNotFound, invalidPage } from '../documentation.ts';
import { errorListQuery, maxErrors } from '../list-filters.ts';
import { errorsAsCsv, loadErrorsResponse } from '../load-errors-response.ts';
import { defineRoute } from '../operation.ts';
import { loadErrorListSchema } from '../records/load-error.ts';
import { importLogParams } from '../schemas.ts';

type Deps = { readonly importLogs: ImportLogStore; readonly stage: LoadStage; readonly attributes: AttributeStore };

export const listImportErrors = defineRoute({
  id: 'listImportErrors',
  tag: 'imports',
  method: 'GET',
  path: '/v1/marketplace/import/:import_log_id/errors',
  scope: 'marketplace:read',
  summary: 'List the errors of an import',
  description: `Lists failed files and the first rejected rows for each file and reason, ordered by file and row. Errors are kept for 90 days. ${errorsAsCsv}`,
  params: importLogParams,
  query: errorListQuery,
  response: {
    status: 200,
    description: 'A page of errors.',
    schema: loadErrorListSchema,
    example: [
      {
        file: 'with-bad-rows.csv',
        row: 2,
        column: 'id',
        code: 'invalid_id',
        message: 'The advertising ID does not have the form 8-4-4-4-12 hexadecimal digits.',
        text: 'not-an-id,sports',
      },
    ],
    csv: 'file,row,column,code,message,text\r\nwith-bad-rows.csv,2,id,invalid_id,The advertising ID does not have the form 8-4-4-4-12 hexadecimal digits.,"not-an-id,sports"\r\n',
    isPaged: true,
  },
  problems: { ...importLogNotFound, ...invalidPage(maxErrors) },
  handler: (deps: Deps) => (request, reply) =>
    loadErrorsResponse(request, reply, 'import errors', (page) =>
      list(deps, partnerOf(request), request.params.import_log_id, page),
    ),
});
