import type { AudienceStore } from '../../../ports/audience-store.ts';
import type { LoadStage } from '../../../ports/load-stage.ts';
import { listAudienceErrors as list } from '../../../usecases/follow/read-audiences.ts';
import { scopeOf } from '../authentication.ts';
import { audienceNotFound, invalidPage } from '../documentation.ts';
import { errorListQuery, maxErrors } from '../list-filters.ts';
import { errorsAsCsv, loadErrorsResponse } from '../load-errors-response.ts';
import { defineRoute } from '../operation.ts';
import { loadErrorListSchema } from '../records/load-error.ts';
import { audienceParams } from '../schemas.ts';

type Deps = { readonly audiences: AudienceStore; readonly stage: LoadStage };

export const listAudienceErrors = defineRoute({
  id: 'listAudienceErrors',
  tag: 'audiences',
  method: 'GET',
  path: '/v2/firstparty/audience/:audience_id/errors',
  scope: 'audience:read',
  summary: 'List the errors of an audience',
  description: `Lists paths without files, failed files, and the first rejected rows for each file and reason. Errors are kept for 90 days. ${errorsAsCsv}`,
  params: audienceParams,
  query: errorListQuery,
  response: {
    status: 200,
    description: 'A page of errors.',
    schema: loadErrorListSchema,
    example: [
      {
        file: 'acme/acme/summer/2.csv',
        row: null,
        column: null,
        code: 'bad_rows',
        message: '1 of 1000 rows was rejected; the limit for your account is 0.',
        text: null,
      },
      {
        file: 'acme/acme/summer/2.csv',
        row: 17,
        column: 'id',
        code: 'invalid_id',
        message: 'The advertising ID does not have the form 8-4-4-4-12 hexadecimal digits.',
        text: 'not-an-id,click',
      },
    ],
    csv: 'file,row,column,code,message,text\r\nacme/acme/summer/2.csv,,,bad_rows,1 of 1000 rows was rejected; the limit for your account is 0.,\r\n',
    isPaged: true,
  },
  problems: { ...audienceNotFound, ...invalidPage(maxErrors) },
  handler: (deps: Deps) => (request, reply) =>
    loadErrorsResponse(request, reply, 'audience errors', (page) =>
      list(deps, scopeOf(request), request.params.audience_id, page),
    ),
});
