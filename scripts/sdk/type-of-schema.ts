import { z } from 'zod';

/**
 * The JSON Schema keywords that the contract uses. If a schema uses another keyword that affects types, add it here.
 */
export const jsonSchema = z.looseObject({
  $ref: z.string().optional(),
  type: z.union([z.string(), z.array(z.string())]).optional(),
  enum: z.array(z.union([z.string(), z.number(), z.boolean(), z.null()])).optional(),
  const: z.union([z.string(), z.number(), z.boolean(), z.null()]).optional(),
  description: z.string().optional(),
  required: z.array(z.string()).default([]),
  get properties() {
    return z.record(z.string(), jsonSchema).optional();
  },
  get additionalProperties() {
    return z.union([z.boolean(), jsonSchema]).optional();
  },
  get items() {
    return jsonSchema.optional();
  },
  get anyOf() {
    return z.array(jsonSchema).optional();
  },
});

export type JsonSchema = z.infer<typeof jsonSchema>;

/** Converts a schema to a TypeScript type. Component names become type names. */
export function typeOfSchema(schema: JsonSchema): string {
  if (schema.$ref !== undefined) return schema.$ref.replace('#/components/schemas/', '');
  if (schema.enum) return schema.enum.map((value) => literal(value)).join(' | ');
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.anyOf) return schema.anyOf.map((one) => typeOfSchema(one)).join(' | ');
  const types = schema.type === undefined ? [] : [schema.type].flat();
  if (types.length === 0) return 'unknown';
  return types.map((type) => typeNamed(type, schema)).join(' | ');
}

function typeNamed(type: string, schema: JsonSchema): string {
  switch (type) {
    case 'object':
      return objectType(schema);
    case 'array':
      return `readonly ${parenthesized(schema.items ? typeOfSchema(schema.items) : 'unknown')}[]`;
    case 'integer':
      return 'number';
    case 'string':
    case 'number':
    case 'boolean':
    case 'null':
      return type;
    default:
      throw new Error(`unsupported JSON type ${type}`);
  }
}

function objectType({ properties = {}, additionalProperties, required }: JsonSchema): string {
  const fields = Object.entries(properties);
  if (fields.length === 0) {
    const values = typeof additionalProperties === 'object' ? typeOfSchema(additionalProperties) : 'unknown';
    return `Readonly<Record<string, ${values}>>`;
  }
  const lines = fields.flatMap(([name, field]) => [
    ...(field.description === undefined ? [] : [comment(field.description)]),
    required.includes(name)
      ? `readonly ${name}: ${typeOfSchema(field)};`
      : `readonly ${name}?: ${typeOfSchema(field)} | undefined;`,
  ]);
  return `{\n${lines.map((line) => indent(line)).join('\n')}\n}`;
}

export function comment(text: string): string {
  return `/** ${text.replaceAll('*/', '* /').replaceAll(/\s+/g, ' ')} */`;
}

export function indent(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '  ');
}

function literal(value: string | number | boolean | null): string {
  return typeof value === 'string' ? `'${value.replaceAll(/['\\]/g, String.raw`\$&`)}'` : String(value);
}

function parenthesized(type: string): string {
  return type.includes(' ') ? `(${type})` : type;
}
