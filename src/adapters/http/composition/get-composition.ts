import type { CompositionRecord } from '@inlet/contract/composition';
import { operations } from '@inlet/contract/operations';
import { getComposition, type Composition, type CompositionDeps } from '../../../usecases/get-composition.ts';
import { scopeOf } from '../customer-scope.ts';
import type { Api } from '../server.ts';

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
