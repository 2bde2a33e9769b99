import { z } from 'zod';
import type { Attribute } from '../../../domain/attribute.ts';

export const attributeSchema = z
  .object({
    attribute_id: z.int(),
    name: z.string(),
    foreign_keys: z.array(z.string()),
    retired: z
      .boolean()
      .meta({ description: 'A retired attribute accepts no imports. Its data can still be deleted.' }),
  })
  .meta({ id: 'Attribute' });

type AttributeRecord = z.input<typeof attributeSchema>;

export function attributeRecord({ id, name, foreignKeys, isRetired }: Attribute): AttributeRecord {
  return { attribute_id: id, name, foreign_keys: [...foreignKeys], retired: isRetired };
}

export const attributeExample = {
  attribute_id: 1004,
  name: 'golf',
  foreign_keys: ['golf'],
  retired: false,
} satisfies AttributeRecord;
