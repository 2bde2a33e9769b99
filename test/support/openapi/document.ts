import { readFileSync } from 'node:fs';
import { z } from 'zod';

// The parts of packages/contract/openapi.json that tests use.

const mediaSchema = z.looseObject({
  schema: z.unknown(),
  example: z.unknown().optional(),
  examples: z.record(z.string(), z.looseObject({ value: z.unknown() })).optional(),
});
const contentSchema = z.record(z.string(), mediaSchema);
const parameterSchema = z.looseObject({
  name: z.string(),
  in: z.enum(['path', 'query', 'header']),
  example: z.unknown().optional(),
  schema: z.looseObject({}),
});
const responseSchema = z.looseObject({
  headers: z.record(z.string(), z.object({ $ref: z.string() })).default({}),
  content: contentSchema.default({}),
});
const operationSchema = z.looseObject({
  operationId: z.string(),
  deprecated: z.boolean().default(false),
  security: z.array(z.record(z.string(), z.array(z.string()))),
  parameters: z.array(parameterSchema).default([]),
  requestBody: z.looseObject({ required: z.boolean(), content: contentSchema }).optional(),
  responses: z.record(z.string(), z.union([z.strictObject({ $ref: z.string() }), responseSchema])),
});
const documentSchema = z.looseObject({
  paths: z.record(z.string(), z.record(z.string(), operationSchema)),
  components: z.looseObject({
    schemas: z.record(z.string(), z.looseObject({})),
    responses: z.record(z.string(), responseSchema),
    headers: z.record(z.string(), z.looseObject({ required: z.boolean().default(false), example: z.unknown() })),
  }),
});

export type OpenApi = z.infer<typeof documentSchema>;
export type DescribedResponse = z.infer<typeof responseSchema> & { readonly place: string };
export type DescribedOperation = z.infer<typeof operationSchema> & {
  readonly method: string;
  readonly path: string;
  /** The location in the document, as a JSON pointer. */
  readonly place: string;
};

export function readOpenApiText(): string {
  return readFileSync(new URL('../../../packages/contract/openapi.json', import.meta.url), 'utf8');
}

export function parseOpenApi(text: string): OpenApi {
  return documentSchema.parse(JSON.parse(text));
}

export function operationsOf({ paths }: OpenApi): DescribedOperation[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path,
      place: `/paths/${escapePointer(path)}/${method}`,
    })),
  );
}

/** Whether only an operator's session can call the operation. */
export function isForOperators({ security }: DescribedOperation): boolean {
  return security.some(({ session }) => session?.includes('operator'));
}

/** Undefined if the operation has no response with this status. */
export function responseOf(
  { components }: OpenApi,
  operation: DescribedOperation,
  status: string,
): DescribedResponse | undefined {
  const found = operation.responses[status];
  if (!found) return undefined;
  if (!('$ref' in found)) return { ...found, place: `${operation.place}/responses/${status}` };
  const name = String(found.$ref).split('/').at(-1) ?? '';
  const shared = components.responses[name];
  return shared && { ...shared, place: `/components/responses/${name}` };
}

export function escapePointer(text: string): string {
  return text.replaceAll('~', '~0').replaceAll('/', '~1');
}
