import { operations } from '@inlet/contract/operations';
import { type WriteAudienceDeps, appendAudienceFiles } from '../../../usecases/accept/write-audiences.ts';
import { partnerOf, scopeOf } from '../authentication.ts';
import { invalidFilePath, tooManyOpenJobs } from '../common-documentation.ts';
import { type OnceDeps, idempotentRequestOf } from '../idempotency.ts';
import type { OperationDocumentation } from '../operation-documentation.ts';
import type { Api } from '../api.ts';
import { audienceIdParameter, audienceNotFound } from './audience-record.ts';

export const appendFilesDocumentation: OperationDocumentation = {
  summary: 'Append files to an audience',
  description:
    'Queues more files. They are merged with what is there; a device counts once. A file that is loaded already is ignored, one that failed or was overwritten is loaded.',
  params: audienceIdParameter,
  bodies: { prefix: { summary: 'Every file under a prefix', value: { file_path: 'acme/summer/' } } },
  answer: { description: 'The files are queued.' },
  failures: {
    ...audienceNotFound,
    invalid_request: {
      detail: 'The request breaks a rule; see errors.',
      errors: [{ pointer: '/file_path', detail: 'Invalid input: expected string, received number' }],
    },
    ...invalidFilePath,
    ...tooManyOpenJobs,
  },
};

const { path, params, body } = operations.appendFiles;

export function addAppendFiles(api: Api, deps: WriteAudienceDeps & OnceDeps, at: (path: string) => string): void {
  api.patch(at(path), { schema: { params, body } }, async (request, reply) => {
    const caller = { partner: partnerOf(request), scope: scopeOf(request) };
    const audienceId = request.params.audience_id;
    const once = idempotentRequestOf(deps, request, reply, caller.scope.customerId);
    await appendAudienceFiles(deps, caller, audienceId, request.body.file_path, once);
    request.log.info({ audienceId }, 'audience load accepted');
    return reply.code(204).send();
  });
}
