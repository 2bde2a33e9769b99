import { describe, expect, it } from 'vitest';
import { jsonSchema, typeOfSchema } from './type-of-schema.ts';

const typeOf = (schema: object): string => typeOfSchema(jsonSchema.parse(schema));

describe('typeOfSchema', () => {
  it.each([
    [{ type: 'integer' }, 'number'],
    [{ type: ['string', 'null'] }, 'string | null'],
    [{ type: 'number', enum: [0, 1] }, '0 | 1'],
    [{ type: 'string', enum: ['a', "b'c"] }, String.raw`'a' | 'b\'c'`],
    [{ const: 'ok' }, "'ok'"],
    [{ $ref: '#/components/schemas/Progress' }, 'Progress'],
    [{ anyOf: [{ type: 'array', items: { type: 'string' } }, { type: 'null' }] }, 'readonly string[] | null'],
    [{ type: 'array', items: { enum: [1, 2] } }, 'readonly (1 | 2)[]'],
    [{ type: 'object', additionalProperties: { type: 'boolean' } }, 'Readonly<Record<string, boolean>>'],
    [{ type: 'object', properties: {}, additionalProperties: false }, 'Readonly<Record<string, unknown>>'],
    [{}, 'unknown'],
  ])('converts %j to %s', (schema, type) => {
    expect(typeOf(schema)).toBe(type);
  });

  it('converts the fields of an object, with their descriptions', () => {
    const schema = {
      type: 'object',
      required: ['a'],
      properties: { a: { type: 'object', properties: { b: { type: 'string', description: 'A */ b.' } } } },
    };
    expect(typeOf(schema)).toBe(
      ['{', '  readonly a: {', '    /** A * / b. */', '    readonly b?: string | undefined;', '  };', '}'].join('\n'),
    );
  });

  it('rejects an unsupported type', () => {
    expect(() => typeOf({ type: 'blob' })).toThrow('unsupported JSON type blob');
  });
});
