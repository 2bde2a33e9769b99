import { operations } from '@inlet/contract/operations';
import { type WriteAudienceDeps, createAudience } from '../../../usecases/accept/write-audiences.ts';
import { partnerOf, scopeOf } from '../authentication.ts';
import { invalidFilePath, tooManyOpenJobs } from '../common-documentation.ts';
import { type OnceDeps, idempotentRequestOf } from '../idempotency.ts';
import type { OperationDocumentation } from '../operation-documentation.ts';
import type { Api } from '../api.ts';

export const createAudienceDocumentation: OperationDocumentation = {
  summary: 'Create an audience',
  description:
    'Makes an audience and queues the file, or every file whose path begins with `file_path`. Names need not be different. Follow the load at `Location`.',
  bodies: {
    prefix: { summary: 'Every file under a prefix', value: { name: 'Summer', file_path: 'acme/summer/' } },
    file: { summary: 'One file', value: { name: 'Winter', file_path: 'acme/winter.csv.gz' } },
  },
  answer: {
    description: 'The audience exists, and its files are queued.',
    example: { audience_id: 1, default_warehouse_segment_id: 500001 },
    location: '/v2/firstparty/audience/1',
  },
  failures: {
    invalid_request: {
      detail: 'The request breaks a rule; see errors.',
      errors: [
        { pointer: '/name', detail: 'Too small: expected string to have >=1 characters' },
        { pointer: '/file_path', detail: 'Invalid input: expected string, received undefined' },
      ],
    },
    ...invalidFilePath,
    ...tooManyOpenJobs,
  },
};

const { path, body, answer } = operations.createAudience;

export function addCreateAudience(api: Api, deps: WriteAudienceDeps & OnceDeps, at: (path: string) => string): void {
  api.post(at(path), { schema: { body, response: { 201: answer } } }, async (request, reply) => {
    const { name, file_path: filePath } = request.body;
    const caller = { partner: partnerOf(request), scope: scopeOf(request) };
    const once = idempotentRequestOf(deps, request, reply, caller.scope.customerId);
    const { audienceId, warehouseSegmentId } = await createAudience(deps, caller, { name, filePath }, once);
    request.log.info({ audienceId }, 'audience load accepted');
    reply.code(201).header('location', `${at(path)}/${audienceId}`);
    return { audience_id: audienceId, default_warehouse_segment_id: warehouseSegmentId };
  });
}
