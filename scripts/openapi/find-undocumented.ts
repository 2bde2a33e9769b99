import { z } from 'zod';

const text = z.string().optional();
const mediaSchema = z.looseObject({
  schema: z.unknown().optional(),
  example: z.unknown().optional(),
  examples: z.record(z.string(), z.looseObject({ value: z.unknown() })).optional(),
});
const responseSchema = z.looseObject({ description: text, content: z.record(z.string(), mediaSchema).optional() });
const operationSchema = z.looseObject({
  summary: text,
  description: text,
  parameters: z
    .array(z.looseObject({ name: z.string(), in: z.string(), description: text, example: z.unknown().optional() }))
    .default([]),
  requestBody: z.looseObject({ content: z.record(z.string(), mediaSchema) }).optional(),
  responses: z.record(z.string(), z.looseObject({ $ref: text })),
});
const documentSchema = z.looseObject({
  paths: z.record(z.string(), z.record(z.string(), operationSchema)),
  components: z.looseObject({ responses: z.record(z.string(), responseSchema) }),
});
/** The codes of a problem response. See openapi-document.ts. */
const problemCodesSchema = z.object({
  allOf: z.tuple([
    z.unknown(),
    z.looseObject({ properties: z.looseObject({ code: z.object({ enum: z.array(z.string()) }) }) }),
  ]),
});

type Media = z.infer<typeof mediaSchema>;
type Responses = z.infer<typeof operationSchema>['responses'];

/** Lists missing descriptions and examples in an OpenAPI document, one per line. */
export function findUndocumented(document: unknown): string[] {
  const { paths, components } = documentSchema.parse(document);
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, operation]) =>
      [
        ...(operation.summary ? [] : ['has no summary']),
        ...(operation.description ? [] : ['has no description']),
        ...operation.parameters.flatMap((parameter) => [
          ...(parameter.description ? [] : [`has no description of ${parameter.name}`]),
          ...(parameter.in === 'path' && parameter.example === undefined
            ? [`has no example of ${parameter.name}`]
            : []),
        ]),
        ...examplesMissing('a request body', operation.requestBody?.content ?? {}),
        ...inResponses(operation.responses, components.responses),
      ].map((gap) => `${method.toUpperCase()} ${path} ${gap}`),
    ),
  );
}

function inResponses(responses: Responses, shared: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(responses).flatMap(([status, given]) => {
    const response = responseSchema.parse(given.$ref ? shared[given.$ref.split('/').at(-1) ?? ''] : given);
    const content = response.content ?? {};
    return [
      ...(response.description ? [] : [`has no description of ${status}`]),
      ...(Object.keys(content).length === 0 && !['204', '304'].includes(status) ? [`has no content of ${status}`] : []),
      ...examplesMissing(status, content),
      ...problemsMissing(status, content['application/problem+json']),
    ];
  });
}

function examplesMissing(of: string, content: Readonly<Record<string, Media>>): string[] {
  return Object.entries(content)
    .filter(([, { example, examples = {} }]) => example === undefined && Object.keys(examples).length === 0)
    .map(([type]) => `has no example of ${of} as ${type}`);
}

function problemsMissing(status: string, problem: Media | undefined): string[] {
  if (!problem) return [];
  const codes = problemCodesSchema.parse(problem.schema).allOf[1].properties.code.enum;
  return codes
    .filter((code) => !Object.hasOwn(problem.examples ?? {}, code))
    .map((code) => `has no example of ${status} ${code}`);
}
