import type { CompositionRecord } from '@inlet/contract/composition';
import { operations } from '@inlet/contract/operations';
import { type Composition, type CompositionDeps, getComposition } from '../../../usecases/report/get-composition.ts';
import { scopeOf } from '../authentication.ts';
import type { OperationDocumentation } from '../operation-documentation.ts';
import type { Api } from '../api.ts';

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

const { path, params, query, answer } = operations.getComposition;

export function addGetComposition(api: Api, deps: { readonly composition: CompositionDeps }): void {
  api.get(path, { schema: { params, querystring: query, response: { 200: answer } } }, async (request) => {
    const { default_warehouse_segment_id } = request.params;
    const { split = null, order, limit } = request.query;
    const question = { split, order, limit };
    const composition = await getComposition(
      deps.composition,
      scopeOf(request),
      default_warehouse_segment_id,
      question,
    );
    return { ...compositionRecord(composition), default_warehouse_segment_id, split };
  });
}

function compositionRecord(
  composition: Composition,
): Omit<CompositionRecord, 'default_warehouse_segment_id' | 'split'> {
  return {
    audience_id: composition.audienceId,
    matched_devices: composition.matchedDevices,
    warehouse_devices: composition.warehouseDevices,
    protected: composition.isProtected,
    computed_at: composition.computedAt.toISOString(),
    attributes: composition.entries.map((entry) => ({
      attribute_id: entry.attributeId,
      name: entry.name,
      ...(entry.value === null ? {} : { value: entry.value }),
      devices: entry.devices,
      share: entry.share,
      warehouse_devices: entry.warehouseDevices,
      warehouse_share: entry.warehouseShare,
      index: entry.index,
      small: entry.small,
    })),
  };
}
