import * as fc from 'fast-check';
import { z } from 'zod';
import type { OpenApi } from '../support/openapi/document.ts';

const schemaSchema = z.looseObject({
  $ref: z.string().optional(),
  anyOf: z.array(z.looseObject({})).optional(),
  enum: z.array(z.unknown()).optional(),
  const: z.unknown().optional(),
  type: z.unknown().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  maxLength: z.number().optional(),
  items: z.looseObject({}).optional(),
  properties: z.record(z.string(), z.looseObject({})).optional(),
});

const paths = [
  'with-bad-rows.csv',
  'daily/2026-11-15/',
  '../x',
  '/x',
  '',
  's3://b/x',
  's3://acme-exports/day.csv',
  'a\u0000b',
];
const text = fc.oneof(
  fc.constantFrom(...paths, 'sports', '1001', 'eu-central-1', ' ', '\ud800', '💥', '١', 'NaN', '__proto__'),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.integer({ min: 100, max: 3000 }).map((length) => 'x'.repeat(length)),
);

/**
 * Generates a value with the structure that a schema requires. The value is not always valid, because patterns are
 * ignored.
 */
export function arbitraryOf(document: OpenApi, schema: unknown): fc.Arbitrary<unknown> {
  const {
    $ref,
    anyOf,
    enum: options,
    const: only,
    type,
    minimum,
    maximum,
    items,
    properties,
  } = schemaSchema.parse(schema);
  if ($ref !== undefined) return arbitraryOf(document, document.components.schemas[$ref.split('/').at(-1) ?? '']);
  if (anyOf) return fc.oneof(...anyOf.map((one) => arbitraryOf(document, one)));
  if (options) return fc.constantFrom(...options);
  if (only !== undefined) return fc.constant(only);
  if (properties) {
    const fields = Object.entries(properties).map(([name, field]) => [name, arbitraryOf(document, field)] as const);
    return fc.record(Object.fromEntries(fields), { requiredKeys: [] });
  }
  if (items) return fc.array(arbitraryOf(document, items), { maxLength: 5 });
  if (type === 'integer') return fc.integer({ min: minimum ?? -5, max: Math.min(maximum ?? 2000, 2 ** 31 - 1) });
  if (type === 'boolean') return fc.boolean();
  return type === 'string' ? text : fc.jsonValue({ maxDepth: 2 });
}

export const anyJson = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  text,
  fc.constantFrom(null, 0, -1, 1e308, 2 ** 53, [], {}),
);
