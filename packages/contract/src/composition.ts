import { z } from 'zod';

export const compositionParamsSchema = z.object({
  default_warehouse_segment_id: z
    .string()
    .regex(/^[1-9]\d{0,14}$/)
    .transform(Number),
});

const split = z.enum(['id_type', 'country', 'event']);

export const compositionQuerySchema = z.strictObject({
  split: split.optional(),
  order: z.enum(['devices', 'index']).default('devices'),
  limit: z.coerce.number().int().min(1).max(100).default(20),
});

const hideable = 'Null: hidden, because the group is small.';

export const compositionEntrySchema = z
  .object({
    attribute_id: z.int(),
    name: z.string(),
    value: z.string().optional().meta({ description: 'Of the split; absent without one.' }),
    devices: z
      .int()
      .nullable()
      .meta({ description: `Matched devices with the attribute. ${hideable}` }),
    share: z.number().min(0).max(1).nullable().meta({ description: 'Of the matched devices.' }),
    warehouse_devices: z.int().meta({ description: 'Devices with the attribute in the whole warehouse.' }),
    warehouse_share: z.number().min(0).max(1).nullable(),
    index: z.number().nullable().meta({ description: 'share ÷ warehouse_share: 1 is as usual, 2 twice as often.' }),
    small: z.boolean().meta({ description: 'The number is small: do not build on it.' }),
  })
  .meta({ id: 'CompositionEntry' });

export const compositionSchema = z
  .object({
    audience_id: z.int(),
    default_warehouse_segment_id: z.int(),
    matched_devices: z.int(),
    warehouse_devices: z.int(),
    split: split.nullable(),
    protected: z.boolean().meta({ description: 'Numbers carry noise, are rounded down, and small ones are hidden.' }),
    computed_at: z.iso.datetime(),
    attributes: z.array(compositionEntrySchema).max(100),
  })
  .meta({ id: 'Composition' });

export type CompositionRecord = z.infer<typeof compositionSchema>;
