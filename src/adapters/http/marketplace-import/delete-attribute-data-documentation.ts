import { tooManyOpenJobs } from '../common-documentation.ts';
import type { OperationDocumentation } from '../operation-documentation.ts';

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
      detail: '1 of 2 keys are unknown.',
      errors: [{ pointer: '/keys/1', detail: 'is not a key of this partner.' }],
    },
    ...tooManyOpenJobs,
  },
};
