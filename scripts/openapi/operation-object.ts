import { idempotencyKeyHeader, idempotencyKeySchema } from '@inlet/contract/idempotency';
import type { Operation } from '@inlet/contract/operations';
import type { z } from 'zod';
import {
  failuresOfAll,
  failuresOfBodies,
  failuresOfHealth,
  failuresOfKeys,
  failuresOfRepeating,
  failuresOfUserTokens,
  idempotencyKey,
} from '../../src/adapters/http/common-documentation.ts';
import type { DocumentedFailures, OperationDocumentation } from '../../src/adapters/http/operation-documentation.ts';
import { headersNamed, type HeaderName } from './headers.ts';
import type { JsonObject, SchemaCollector } from './json-schemas.ts';
import type { ProblemCollector } from './problems.ts';

export type DocumentedOperation = {
  readonly id: string;
  readonly operation: Operation;
  readonly documentation: OperationDocumentation;
  readonly isDeprecated: boolean;
};

/** An Operation Object of OpenAPI, from the registry of operations and what is written beside the routes. */
export function operationObject(
  documented: DocumentedOperation,
  schemas: SchemaCollector,
  problems: ProblemCollector,
): JsonObject {
  const { id, operation, documentation, isDeprecated } = documented;
  const group = groupOf(operation.path);
  const parameters = parametersOf(documented, schemas);
  return {
    operationId: id,
    tags: [group],
    summary: documentation.summary,
    description: documentation.description,
    ...(isDeprecated ? { deprecated: true } : {}),
    security: securityOf(group, operation.scope),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(operation.body ? { requestBody: bodyOf(operation.body, documentation, schemas) } : {}),
    responses: {
      ...answersOf(documented, schemas),
      ...problems.responsesOf(documentation.failures, commonFailures(operation), instanceOf(documented)),
    },
  };
}

function groupOf(path: string): 'imports' | 'audiences' | 'limits' | 'health' {
  if (path.startsWith('/health/')) return 'health';
  if (path === '/v1/limits') return 'limits';
  return path.includes('/firstparty/') ? 'audiences' : 'imports';
}

/** In OpenAPI 3.1 the list beside a scheme that is not OAuth names what the holder must be allowed. */
function securityOf(group: ReturnType<typeof groupOf>, scope: Operation['scope']): JsonObject[] {
  if (group === 'health') return [];
  const apiKey = scope === undefined || scope === 'any' ? [] : [scope];
  return [{ apiKey }, ...(group === 'audiences' ? [{ apiKey, userToken: [] }] : [])];
}

function commonFailures(operation: Operation): DocumentedFailures {
  const group = groupOf(operation.path);
  if (group === 'health') return failuresOfHealth;
  return {
    ...failuresOfKeys,
    ...(group === 'audiences' ? failuresOfUserTokens : {}),
    ...(operation.body ? failuresOfBodies : {}),
    ...(isRepeatable(operation) ? failuresOfRepeating : {}),
    ...failuresOfAll,
  };
}

/** Decision 31: everything that changes something. */
function isRepeatable({ method }: Operation): boolean {
  return method !== 'GET';
}

function parametersOf({ operation, documentation }: DocumentedOperation, schemas: SchemaCollector): JsonObject[] {
  const places = [
    { place: 'path', schema: operation.params, texts: documentation.params },
    { place: 'query', schema: operation.query, texts: documentation.query },
  ];
  const headers = Object.entries(documentation.headers ?? {}).map(([name, texts]) => ({
    name,
    in: 'header',
    schema: { type: 'string' },
    ...texts,
  }));
  const inAddress = places.flatMap(({ place, schema, texts = {} }) =>
    Object.entries<z.ZodType>(schema?.shape ?? {}).map(([name, field]) => ({
      name,
      in: place,
      ...(place === 'path' ? { required: true } : {}),
      schema: schemas.schemaOf(field),
      ...texts[name],
    })),
  );
  const once = isRepeatable(operation)
    ? [{ name: idempotencyKeyHeader, in: 'header', schema: schemas.schemaOf(idempotencyKeySchema), ...idempotencyKey }]
    : [];
  return [...inAddress, ...headers, ...once];
}

function bodyOf(schema: z.ZodType, { bodies }: OperationDocumentation, schemas: SchemaCollector): JsonObject {
  return {
    required: !schema.safeParse(undefined).success,
    content: { 'application/json': { schema: schemas.schemaOf(schema), examples: bodies } },
  };
}

function answersOf(documented: DocumentedOperation, schemas: SchemaCollector): JsonObject {
  const { operation, documentation, isDeprecated } = documented;
  const answers = { [operation.status]: documentation.answer, ...documentation.otherAnswers };
  return Object.fromEntries(
    Object.entries(answers).map(
      ([status, { description, example, csv, events, isEmpty, isTagged, location, isPaged }]) => {
        const names: HeaderName[] = ['x-request-id'];
        if (groupOf(operation.path) !== 'health') names.push('ratelimit-policy', 'ratelimit');
        if (isDeprecated) names.push('deprecation', 'sunset');
        if (location !== undefined) names.push('location');
        if (isPaged) names.push('link');
        if (isRepeatable(operation)) names.push('idempotent-replayed');
        if (isTagged) names.push('etag', 'cache-control', 'vary', 'preference-applied');
        const json = !isEmpty && operation.answer && { schema: schemas.schemaOf(operation.answer), example };
        const content = {
          ...(json ? { 'application/json': json } : {}),
          ...(csv === undefined ? {} : { 'text/csv': { schema: { type: 'string' }, example: csv } }),
          ...(events !== undefined && operation.events
            ? {
                'text/event-stream': {
                  schema: { type: 'string' },
                  example: events,
                  'x-event-data': schemas.schemaOf(operation.events),
                },
              }
            : {}),
        };
        const response = { description, headers: headersNamed(names) };
        return [status, Object.keys(content).length > 0 ? { ...response, content } : response];
      },
    ),
  );
}

/** The path with the examples of its parameters. */
function instanceOf({ operation, documentation }: DocumentedOperation): string {
  return operation.path.replaceAll(/:(\w+)/g, (_all, name: string) => String(documentation.params?.[name]?.example));
}
