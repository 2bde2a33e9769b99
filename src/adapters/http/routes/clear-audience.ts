import { operations } from '@inlet/contract/operations';
import { type WriteAudienceDeps, clearAudience } from '../../../usecases/accept/write-audiences.ts';
import { scopeOf } from '../authentication.ts';
import { type OnceDeps, idempotentRequestOf } from '../idempotency.ts';
import type { OperationDocumentation } from '../operation-documentation.ts';
import type { Api } from '../api.ts';
import { audienceIdParameter, audienceNotFound } from './audience-record.ts';

export const clearAudienceDocumentation: OperationDocumentation = {
  summary: 'Clear an audience',
  description:
    'Empties it at once, whatever its size, and cancels what is loading. What is appended after the call is loaded.',
  params: audienceIdParameter,
  bodies: { nothing: { summary: 'No fields; the body can be left out', value: {} } },
  answer: { description: 'The audience is empty.' },
  failures: {
    ...audienceNotFound,
    invalid_request: {
      detail: 'The request breaks a rule; see errors.',
      errors: [{ pointer: '', detail: 'Unrecognized key: "file_path"' }],
    },
  },
};

const { path, params, body } = operations.clearAudience;

export function addClearAudience(api: Api, deps: WriteAudienceDeps & OnceDeps, at: (path: string) => string): void {
  api.put(at(path), { schema: { params, body } }, async (request, reply) => {
    const scope = scopeOf(request);
    const once = idempotentRequestOf(deps, request, reply, scope.customerId);
    await clearAudience(deps, scope, request.params.audience_id, once);
    return reply.code(204).send();
  });
}
