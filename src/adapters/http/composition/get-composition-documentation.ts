import type { OperationDocumentation } from '../operation-documentation.ts';

export const getCompositionDocumentation: OperationDocumentation = {
  summary: 'Get the composition of an audience',
  description:
    'What the matched devices have in common: for each attribute how many of them have it, beside the whole warehouse. Numbers carry noise and small groups are hidden, unless the operator turned that off. A large report can take longer than a request may: then the answer is 503 `report_not_ready`, and the computation goes on.',
  params: {
    default_warehouse_segment_id: {
      description: 'Of the audience, under that name.',
      example: 500001,
    },
  },
  query: {
    split: {
      description: 'One entry per attribute and value of this, instead of one per attribute.',
      example: 'event',
    },
    order: { description: 'By the number of devices, or by the index; the largest first.', example: 'index' },
    limit: { description: 'How many entries there are at most.', example: 10 },
  },
  answer: {
    description: 'The report.',
    example: {
      audience_id: 1,
      default_warehouse_segment_id: 500001,
      matched_devices: 1000,
      warehouse_devices: 300000,
      split: 'event',
      protected: true,
      computed_at: '2026-11-15T01:14:02.310Z',
      attributes: [
        {
          attribute_id: 1001,
          name: 'sports',
          value: 'click',
          devices: 500,
          share: 0.5,
          warehouse_devices: 100000,
          warehouse_share: 0.333,
          index: 1.5,
          small: false,
        },
      ],
    },
  },
  failures: {
    not_found: { detail: 'There is no segment 500001.' },
    invalid_request: {
      detail: 'The request breaks a rule; see errors.',
      errors: [{ pointer: '/split', detail: 'Invalid option: expected one of "id_type"|"country"|"event"' }],
    },
    report_not_ready: { detail: 'The report is being computed.' },
  },
};
