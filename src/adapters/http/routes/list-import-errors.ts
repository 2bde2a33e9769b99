import { operations } from '@inlet/contract/operations';
import type { ImportLogStore } from '../../../ports/import-log-store.ts';
import type { LoadStage } from '../../../ports/load-stage.ts';
import { listImportErrors } from '../../../usecases/follow/read-import-logs.ts';
import { partnerOf } from '../authentication.ts';
import { invalidPage, pageParameters } from '../common-documentation.ts';
import { answerLoadErrors, loadErrorsAnswer } from '../load-errors-answer.ts';
import type { OperationDocumentation } from '../operation-documentation.ts';
import type { Api } from '../api.ts';
import { importLogIdParameter, noSuchImport } from './import-log-record.ts';

export const listImportErrorsDocumentation: OperationDocumentation = {
  summary: 'List the errors of an import',
  description:
    "Failed files, and the first refused rows of each file and reason, in the order of files and rows. Kept 90 days. As CSV with `Accept: text/csv`; there a text that a spreadsheet would take for a formula has a `'` before it.",
  params: importLogIdParameter,
  query: pageParameters,
  answer: {
    description: 'A page of errors.',
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
  failures: { ...noSuchImport, ...invalidPage },
};

type Deps = { readonly importLogs: ImportLogStore; readonly stage: LoadStage };

const { path, params, query } = operations.listImportErrors;

export function addListImportErrors(api: Api, deps: Deps): void {
  const schema = { params, querystring: query, response: { 200: loadErrorsAnswer } };
  api.get(path, { schema }, (request, reply) =>
    answerLoadErrors(request, reply, 'import errors', (page) =>
      listImportErrors(deps, partnerOf(request), request.params.import_log_id, page),
    ),
  );
}
