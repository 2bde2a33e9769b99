import { invalidPage, pageParameters } from '../common-documentation.ts';
import type { OperationDocumentation } from '../operation-documentation.ts';

export const listAttributesDocumentation: OperationDocumentation = {
  summary: 'List attributes',
  description:
    'What the partner may name in its files and deletes: each attribute by its id, or by one of the foreign keys that are tied to it.',
  query: pageParameters,
  answer: {
    description: 'A page of attributes, by their ids.',
    example: [
      { attribute_id: 1001, name: 'sports', foreign_keys: ['sports'], retired: false },
      { attribute_id: 1002, name: 'travel', foreign_keys: ['travel', 'trips'], retired: true },
    ],
    isPaged: true,
  },
  failures: invalidPage,
};
