import { operations } from '@inlet/contract/operations';
import { type QueueDeleteDeps, queueDelete } from '../../../usecases/accept/queue-import.ts';
import { partnerOf } from '../authentication.ts';
import { tooManyOpenJobs } from '../common-documentation.ts';
import { type OnceDeps, idempotentRequestOf } from '../idempotency.ts';
import type { OperationDocumentation } from '../operation-documentation.ts';
import type { Api } from '../api.ts';
import { answerQueued } from './import-log-record.ts';

export const deleteAttributeDataDocumentation: OperationDocumentation = {
  summary: 'Delete attribute data',
  description:
    'Queues the deletion of all data of the attributes in `keys`. It cannot be undone. It is done in the order of the imports: what an earlier import brings is deleted, what a later one brings stays. Its record has `log_type` 1, and in `total_rows` how many rows went.',
  bodies: {
    foreignKeys: { summary: "By the partner's own keys", value: { key_type: 1, keys: ['travel', 'music'] } },
    attributeIds: { summary: 'By attribute ids', value: { key_type: 0, keys: ['1001'] } },
  },
  answer: {
    description: 'The delete is queued.',
    example: { import_log_id: 2 },
    location: '/v1/marketplace/import/2',
  },
  failures: {
    invalid_request: {
      detail: 'The request breaks a rule; see errors.',
      errors: [{ pointer: '/keys', detail: 'Too small: expected array to have >=1 items' }],
    },
    unknown_keys: {
      detail: '1 of 2 keys is unknown.',
      errors: [{ pointer: '/keys/1', detail: 'Unknown key "golf".' }],
    },
    ...tooManyOpenJobs,
  },
};

const { path, body, answer } = operations.deleteAttributeData;

export function addDeleteAttributeData(api: Api, deps: QueueDeleteDeps & OnceDeps): void {
  api.delete(path, { schema: { body, response: { 202: answer } } }, async (request, reply) => {
    const { key_type, keys } = request.body;
    const asked = { keyType: key_type, keys };
    return answerQueued(
      reply,
      await queueDelete(deps, partnerOf(request), asked, idempotentRequestOf(deps, request, reply)),
    );
  });
}
