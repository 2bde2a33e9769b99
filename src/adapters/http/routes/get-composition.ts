import { z } from 'zod';
import { maxReportEntries } from '../../../domain/composition/protection.ts';
import {
  type Composition,
  type CompositionDeps,
  getComposition as compute,
} from '../../../usecases/report/get-composition.ts';
import { scopeOf } from '../authentication.ts';
import { invalidQuery } from '../documentation.ts';
import { defineRoute } from '../operation.ts';
import { limitField, pathId } from '../schemas.ts';

const split = z.enum(['id_type', 'country', 'event']);

const query = z.strictObject({
  split: split.optional().meta({
    description: 'Returns one entry per attribute and value of this field instead of one entry per attribute.',
    examples: ['event'],
  }),
  order: z
    .enum(['devices', 'index'])
    .default('devices')
    .meta({ description: 'Sorts by number of devices or by index, largest first.', examples: ['index'] }),
  limit: limitField(maxReportEntries, 20, 'Maximum number of entries.', 10),
});

const compositionEntrySchema = z
  .object({
    attribute_id: z.int(),
    name: z.string(),
    value: z.string().optional().meta({ description: 'Value of the split field. Absent if the report is not split.' }),
    devices: z.int().nullable().meta({
      description: 'Matched devices with the attribute. Null if the count is hidden because the group is small.',
    }),
    share: z.number().min(0).max(1).nullable().meta({ description: 'Share of the matched devices.' }),
    warehouse_devices: z.int().meta({ description: 'Devices with the attribute in the whole warehouse.' }),
    warehouse_share: z.number().min(0).max(1).nullable(),
    index: z
      .number()
      .nullable()
      .meta({ description: '`share` divided by `warehouse_share`. 1 is average, and 2 is twice the average.' }),
    small: z.boolean().meta({ description: 'True if the group is too small for reliable conclusions.' }),
  })
  .meta({ id: 'CompositionEntry' });

export const compositionSchema = z
  .object({
    audience_id: z.int(),
    default_warehouse_segment_id: z.int(),
    matched_devices: z.int(),
    warehouse_devices: z.int(),
    split: split.nullable(),
    protected: z.boolean().meta({
      description: 'If true, noise is added to counts, counts are rounded down, and small groups are hidden.',
    }),
    computed_at: z.iso.datetime(),
    attributes: z.array(compositionEntrySchema).max(maxReportEntries),
  })
  .meta({ id: 'Composition' });

export type CompositionRecord = z.infer<typeof compositionSchema>;

export const getComposition = defineRoute({
  id: 'getComposition',
  tag: 'audiences',
  method: 'GET',
  path: '/v2/firstparty/segments/:default_warehouse_segment_id/composition',
  scope: 'audience:read',
  summary: 'Get the composition of an audience',
  description:
    'Returns a report on what the matched devices have in common. For each attribute, the report compares the number of matched devices with the whole warehouse. Noise is added to counts and small groups are hidden, unless the operator has disabled this protection. If computing a report takes longer than the request timeout, the response is 503 `report_not_ready`, and the computation continues.',
  params: z.object({
    default_warehouse_segment_id: pathId("The audience's `default_warehouse_segment_id`.", 500001),
  }),
  query,
  response: {
    status: 200,
    description: 'The report.',
    schema: compositionSchema,
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
  problems: {
    not_found: { detail: 'Segment 500001 does not exist.' },
    ...invalidQuery('split', 'split must be "id_type", "country", or "event".'),
    report_limit_reached: { detail: '100 new reports have been computed today. The limit is 100 per day (UTC).' },
    report_not_ready: { detail: 'The report is still being computed.' },
    topology_mismatch: { detail: 'The shards differ from the recorded topology.' },
  },
  handler: (deps: { readonly composition: CompositionDeps }) => async (request) => {
    const { default_warehouse_segment_id } = request.params;
    const { split: by = null, order, limit } = request.query;
    const question = { split: by, order, limit };
    const composition = await compute(deps.composition, scopeOf(request), default_warehouse_segment_id, question);
    return { ...compositionRecord(composition), default_warehouse_segment_id, split: by };
  },
});

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
