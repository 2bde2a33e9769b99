import { operations } from '@inlet/contract/operations';
import type { AudienceStore } from '../../../ports/audience-store.ts';
import type { LoadStage } from '../../../ports/load-stage.ts';
import { listAudienceErrors } from '../../../usecases/read-audiences.ts';
import { scopeOf } from '../customer-scope.ts';
import { answerLoadErrors, loadErrorsAnswer } from '../load-errors-answer.ts';
import type { Api } from '../server.ts';

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
