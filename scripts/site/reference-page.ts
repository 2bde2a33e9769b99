import { z } from 'zod';

// Generates the API reference of the site from the OpenAPI document. The page is static, so it is searchable and needs
// no server.

const schemaOf = z.looseObject({
  $ref: z.string().optional(),
  type: z.union([z.string(), z.array(z.string())]).optional(),
  description: z.string().optional(),
  enum: z.array(z.unknown()).optional(),
  const: z.unknown().optional(),
  required: z.array(z.string()).default([]),
  get properties() {
    return z.record(z.string(), schemaOf).optional();
  },
  get items() {
    return schemaOf.optional();
  },
  get anyOf() {
    return z.array(schemaOf).optional();
  },
});
type Schema = z.infer<typeof schemaOf>;

const content = z.record(
  z.string(),
  z.looseObject({
    schema: schemaOf.optional(),
    example: z.unknown().optional(),
    examples: z.record(z.string(), z.looseObject({ value: z.unknown().optional() })).optional(),
  }),
);
const parameter = z.looseObject({
  $ref: z.string().optional(),
  name: z.string().default(''),
  in: z.string().default(''),
  required: z.boolean().default(false),
  description: z.string().default(''),
});
const operation = z.looseObject({
  operationId: z.string(),
  tags: z.array(z.string()),
  summary: z.string(),
  description: z.string(),
  deprecated: z.boolean().default(false),
  security: z.array(z.record(z.string(), z.array(z.string()))).default([]),
  parameters: z.array(parameter).default([]),
  requestBody: z.looseObject({ content }).optional(),
  responses: z.record(
    z.string(),
    z.looseObject({ $ref: z.string().optional(), description: z.string().default(''), content: content.optional() }),
  ),
});
type Operation = z.infer<typeof operation>;
const documentSchema = z.looseObject({
  info: z.looseObject({ description: z.string() }),
  tags: z.array(z.object({ name: z.string(), description: z.string() })),
  paths: z.record(z.string(), z.record(z.string(), operation)),
  components: z.looseObject({
    schemas: z.record(z.string(), schemaOf),
    parameters: z.record(z.string(), parameter).default({}),
    responses: z.record(z.string(), z.looseObject({ description: z.string() })).default({}),
  }),
});
type OpenApi = z.infer<typeof documentSchema>;

/** Returns Markdown with a title, like the pages in docs/. `json` is the text of the OpenAPI document. */
export function referencePage(json: string): string {
  const api = documentSchema.parse(JSON.parse(json));
  const operations = Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({ method: method.toUpperCase(), path, described })),
  );
  const groups = api.tags.flatMap(({ name, description }) => [
    `## ${name.slice(0, 1).toUpperCase()}${name.slice(1)}`,
    description,
    ...operations
      .filter(({ described }) => described.tags.includes(name) && !described.deprecated)
      .map(({ method, path, described }) => operationText(api, method, path, described)),
  ]);
  const deprecated = operations.filter(({ described }) => described.deprecated);
  return [
    '# API reference',
    'Generated from the OpenAPI 3.1 document that a running API serves at `GET /openapi.json`. `GET /docs` shows the same document and lets you send requests.',
    api.info.description,
    ...groups,
    ...(deprecated.length === 0
      ? []
      : ['## Deprecated paths', deprecated.map(({ method, path }) => `- \`${method} ${path}\``).join('\n')]),
  ]
    .join('\n\n')
    .concat('\n');
}

function operationText(api: OpenApi, method: string, path: string, described: Operation): string {
  const scopes = described.security.flatMap((scheme) => scheme['apiKey'] ?? []);
  const parameters = described.parameters.map((given) => resolved(given, api.components.parameters));
  const responses = Object.entries(described.responses).map(
    ([status, response]) => `| ${status} | ${cell(resolved(response, api.components.responses).description)} |`,
  );
  const [body] = Object.values(described.requestBody?.content ?? {});
  const [success] = Object.values(
    Object.entries(described.responses).find(([status]) => status.startsWith('2'))?.[1].content ?? {},
  );
  return [
    `### ${described.summary}`,
    `\`${method} ${path}\``,
    described.description,
    scopes.length === 0 ? 'No API key required.' : `Scope: ${scopes.map((scope) => `\`${scope}\``).join(', ')}.`,
    ...table(
      ['Parameter', 'In', 'Description'],
      parameters.map(
        ({ name, in: place, required, description }) =>
          `| \`${name}\` | ${place}${required ? ', required' : ''} | ${cell(description)} |`,
      ),
    ),
    ...fieldTable(api, 'Body field', body?.schema),
    ...exampleBlock('Example body:', body),
    ...fieldTable(api, 'Response field', success?.schema),
    ...exampleBlock('Example response:', success),
    ...table(['Status', 'Meaning'], responses),
  ].join('\n\n');
}

function fieldTable(api: OpenApi, title: string, schema: Schema | undefined): string[] {
  if (schema === undefined) return [];
  const object = resolvedSchema(api, schema.items ?? schema);
  const fields = Object.entries(object.properties ?? {}).map(([name, field]) => {
    const type = typeText(api, field) + (object.required.includes(name) ? '' : ', optional');
    return `| \`${name}\` | ${cell(type)} | ${cell(field.description ?? resolvedSchema(api, field).description ?? '')} |`;
  });
  return table([title, 'Type', 'Description'], fields);
}

function typeText(api: OpenApi, schema: Schema): string {
  if (schema.anyOf) return schema.anyOf.map((choice) => typeText(api, choice)).join(' or ');
  if (schema.enum) return schema.enum.map((value) => `\`${JSON.stringify(value)}\``).join(', ');
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  const object = resolvedSchema(api, schema);
  if (object !== schema) return typeText(api, object);
  if (schema.items) return `array of ${typeText(api, schema.items)}`;
  return [schema.type ?? 'object'].flat().join(' or ');
}

function resolvedSchema(api: OpenApi, schema: Schema): Schema {
  return resolved(schema, api.components.schemas);
}

function resolved<Item extends { readonly $ref?: string | undefined }>(
  item: Item,
  known: Readonly<Record<string, Item>>,
): Item {
  return item.$ref === undefined ? item : (known[item.$ref.split('/').at(-1) ?? ''] ?? item);
}

function exampleBlock(title: string, described: z.infer<typeof content>[string] | undefined): string[] {
  const [first] = Object.values(described?.examples ?? {});
  const example = described?.example ?? first?.value;
  if (example === undefined || typeof example === 'string') return [];
  return [title, `\`\`\`json\n${JSON.stringify(example, null, 2)}\n\`\`\``];
}

function table(heads: readonly string[], rows: readonly string[]): string[] {
  if (rows.length === 0) return [];
  return [[`| ${heads.join(' | ')} |`, `|${heads.map(() => ' --- |').join('')}`, ...rows].join('\n')];
}

/** Returns one row of a table. Escapes `<` outside code, which Markdown would interpret as HTML. */
function cell(text: string): string {
  return text
    .replaceAll('|', String.raw`\|`)
    .replaceAll(/\s*\n\s*/g, ' ')
    .replaceAll(/`[^`]*`|</g, (found) => (found === '<' ? '&lt;' : found));
}
