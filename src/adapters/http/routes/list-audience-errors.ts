import { operations } from '@inlet/contract/operations';
import type { AudienceStore } from '../../../ports/audience-store.ts';
import type { LoadStage } from '../../../ports/load-stage.ts';
import { listAudienceErrors } from '../../../usecases/follow/read-audiences.ts';
import { scopeOf } from '../authentication.ts';
import { invalidPage, pageParameters } from '../common-documentation.ts';
import { answerLoadErrors, loadErrorsAnswer } from '../load-errors-answer.ts';
import type { OperationDocumentation } from '../operation-documentation.ts';
import type { Api } from '../api.ts';
import { audienceIdParameter, audienceNotFound } from './audience-record.ts';

export const listAudienceErrorsDocumentation: OperationDocumentation = {
  summary: 'List the errors of an audience',
  description:
    "Paths without files, failed files, and the first refused rows of each file and reason. Kept 90 days. As CSV with `Accept: text/csv`; there a text that a spreadsheet would take for a formula has a `'` before it.",
  params: audienceIdParameter,
  query: pageParameters,
  answer: {
    description: 'A page of errors.',
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
  failures: { ...audienceNotFound, ...invalidPage },
};

type Deps = { readonly audiences: AudienceStore; readonly stage: LoadStage };

const { path, params, query } = operations.listAudienceErrors;

export function addListAudienceErrors(api: Api, deps: Deps, at: (path: string) => string): void {
  const schema = { params, querystring: query, response: { 200: loadErrorsAnswer } };
  api.get(at(path), { schema }, (request, reply) =>
    answerLoadErrors(request, reply, 'audience errors', (page) =>
      listAudienceErrors(deps, scopeOf(request), request.params.audience_id, page),
    ),
  );
}
