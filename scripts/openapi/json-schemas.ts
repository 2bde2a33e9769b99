import { z } from 'zod';

export type JsonObject = { readonly [key: string]: unknown };

export type SchemaCollector = {
  /** The JSON schema of a zod schema; what has an id stands in `components` and is referred to. */
  readonly schemaOf: (schema: z.ZodType) => JsonObject;
  readonly components: () => JsonObject;
};

export function schemaCollector(): SchemaCollector {
  const named = new Map<string, unknown>();
  return {
    schemaOf: (schema) => {
      // What is sent: an answer may get more fields within a version, so only bodies are closed.
      const made = z.toJSONSchema(schema, { io: 'input', override: ({ jsonSchema }) => tidy(jsonSchema) });
      const { $schema: _draft, $defs = {}, ...own } = referToComponents(made);
      for (const [id, definition] of Object.entries(z.record(z.string(), z.unknown()).parse($defs))) {
        named.set(id, definition);
      }
      return own;
    },
    components: () => Object.fromEntries([...named].toSorted(([one], [other]) => one.localeCompare(other))),
  };
}

/** An id in a path is digits for us and a number for whoever reads the document; bounds of safe integers say nothing. */
function tidy(schema: z.core.JSONSchema.BaseSchema): void {
  if (schema.pattern === '^[1-9]\\d{0,14}$') {
    delete schema.pattern;
    Object.assign(schema, { type: 'integer', minimum: 1, maximum: 999_999_999_999_999 });
  }
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
}

function referToComponents(schema: object): JsonObject {
  const text = JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/');
  return z.record(z.string(), z.unknown()).parse(JSON.parse(text));
}
