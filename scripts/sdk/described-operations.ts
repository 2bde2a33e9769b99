import { z } from 'zod';
import { jsonSchema, typeOfSchema, type JsonSchema } from './type-of-schema.ts';

const contentSchema = z
  .record(z.string(), z.looseObject({ schema: jsonSchema, 'x-event-data': jsonSchema.optional() }))
  .default({});
const operationSchema = z.looseObject({
  operationId: z.string(),
  summary: z.string(),
  deprecated: z.boolean().default(false),
  security: z.array(z.record(z.string(), z.unknown())),
  parameters: z
    .array(
      z.looseObject({ name: z.string(), in: z.string(), required: z.boolean().default(false), schema: jsonSchema }),
    )
    .default([]),
  requestBody: z.looseObject({ required: z.boolean(), content: contentSchema }).optional(),
  responses: z.record(z.string(), z.looseObject({ content: contentSchema })),
});
const documentSchema = z.looseObject({
  paths: z.record(z.string(), z.record(z.string(), operationSchema)),
  components: z.looseObject({ schemas: z.record(z.string(), jsonSchema) }),
});

/** The parts of an operation that an SDK method needs. The SDK handles headers itself. */
export type MethodDescription = {
  readonly name: string;
  readonly summary: string;
  readonly isDeprecated: boolean;
  readonly method: string;
  readonly path: string;
  readonly auth: 'none' | 'key' | 'key and user token' | 'operator';
  readonly pathParameters: readonly Parameter[];
  readonly queryParameters: readonly Parameter[];
  /** Null if there is no request body or the body is optional. */
  readonly bodyType: string | null;
  /** `void` if the response has no body. */
  readonly responseType: string;
  /** Statuses other than 2xx whose response the SDK returns as a value. */
  readonly acceptedStatuses: readonly number[];
  /** The response is a stream of events, each with a record of the response type. */
  readonly isStream: boolean;
};

type Parameter = { readonly name: string; readonly type: string; readonly isRequired: boolean };
type DescribedOperation = z.infer<typeof operationSchema>;

export function describeMethods(openApi: string): MethodDescription[] {
  const { paths } = documentSchema.parse(JSON.parse(openApi));
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]): MethodDescription => {
      const stream = successOf(operation)['text/event-stream'];
      return {
        name: operation.operationId,
        summary: operation.summary,
        isDeprecated: operation.deprecated,
        method: method.toUpperCase(),
        path,
        auth: authOf(operation),
        pathParameters: parametersOf(operation, 'path'),
        queryParameters: parametersOf(operation, 'query'),
        bodyType: bodyTypeOf(operation),
        responseType: stream
          ? eventTypeOf(stream, paths[path.replace(/\/events$/, '')]?.['get'])
          : responseTypeOf(operation),
        acceptedStatuses: Object.entries(operation.responses)
          .filter(([status, { content }]) => Number(status) >= 400 && content['application/json'] !== undefined)
          .map(([status]) => Number(status)),
        isStream: stream !== undefined,
      };
    }),
  );
}

/** Named schemas, except for the problem schema, for which the SDK has its own type. */
export function describedSchemas(openApi: string): (readonly [string, JsonSchema])[] {
  const { schemas } = documentSchema.parse(JSON.parse(openApi)).components;
  return Object.entries(schemas).filter(([name]) => name !== 'Problem');
}

function successOf({ responses }: DescribedOperation): z.infer<typeof contentSchema> {
  return Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1].content ?? {};
}

type Media = z.infer<typeof contentSchema>[string];

/** Returns the documented schema of the event data. By default, it is the record at the path without `/events`. */
function eventTypeOf(stream: Media, record: DescribedOperation | undefined): string {
  const eventData = stream['x-event-data'];
  if (eventData) return typeOfSchema(eventData);
  return record ? responseTypeOf(record) : 'unknown';
}

function responseTypeOf(operation: DescribedOperation): string {
  const response = successOf(operation)['application/json'];
  return response ? typeOfSchema(response.schema) : 'void';
}

function bodyTypeOf({ requestBody }: DescribedOperation): string | null {
  const body = requestBody?.content['application/json'];
  // A body that can be absent and has no default has no fields.
  return body && (requestBody?.required || 'default' in body.schema) ? typeOfSchema(body.schema) : null;
}

function authOf({ security }: DescribedOperation): MethodDescription['auth'] {
  if (security.length > 0 && security.every((scheme) => 'session' in scheme)) return 'operator';
  if (security.some((scheme) => 'userToken' in scheme)) return 'key and user token';
  return security.some((scheme) => 'apiKey' in scheme) ? 'key' : 'none';
}

function parametersOf({ parameters }: DescribedOperation, place: 'path' | 'query'): Parameter[] {
  return parameters
    .filter((parameter) => parameter.in === place)
    .map(({ name, required, schema }) => ({ name, type: typeOfSchema(schema), isRequired: required }));
}
