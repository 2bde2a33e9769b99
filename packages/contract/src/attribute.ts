import { z } from 'zod';

export const attributeSchema = z
  .object({
    attribute_id: z.int(),
    name: z.string(),
    foreign_keys: z.array(z.string()),
    retired: z.boolean().meta({ description: 'A retired attribute takes no more imports; its data can be deleted.' }),
  })
  .meta({ id: 'Attribute' });

export const attributeListSchema = z.array(attributeSchema);
