import { z } from 'zod';
import { cursor } from './codes.ts';

export const attributeSchema = z
  .object({
    attribute_id: z.int(),
    name: z.string(),
    foreign_keys: z.array(z.string()),
    retired: z.boolean().meta({ description: 'A retired attribute takes no more imports; its data can be deleted.' }),
  })
  .meta({ id: 'Attribute' });

export const attributeListSchema = z.array(attributeSchema).max(1000);

export const attributePageSchema = z.strictObject({
  limit: z.coerce.number().int().min(1).max(1000).default(1000),
  cursor,
});
