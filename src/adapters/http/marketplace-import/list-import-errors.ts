import { operations } from '@inlet/contract/operations';
import type { ImportLogStore } from '../../../ports/import-log-store.ts';
import type { LoadStage } from '../../../ports/load-stage.ts';
import { listImportErrors } from '../../../usecases/read-import-logs.ts';
import { partnerOf } from '../authentication.ts';
import { answerLoadErrors, loadErrorsAnswer } from '../load-errors-answer.ts';
import type { Api } from '../server.ts';

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
