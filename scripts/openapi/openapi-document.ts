import { z } from 'zod';
import {
  acceptsUserToken,
  commonProblems,
  idempotencyKeyDocumentation,
  isIdempotent,
} from '../../src/adapters/http/documentation.ts';
import { idempotencyKeyHeader, idempotencyKeySchema } from '../../src/adapters/http/idempotency.ts';
import type { Operation } from '../../src/adapters/http/operation.ts';
import { problemSchema } from '../../src/adapters/http/records/problem.ts';
import {
  audienceRoutes,
  deprecatedRoutes,
  operatorRoutes,
  partnerRoutes,
  publicRoutes,
} from '../../src/adapters/http/routes.ts';
import { failureCatalog, isFailureCode } from '../../src/domain/failure-catalog.ts';
import type { CatalogEntry } from '../../src/domain/job-failures.ts';
import { type HeaderName, headerReferences, headers } from './headers.ts';

type JsonObject = { readonly [key: string]: unknown };

const description = `Loads files of mobile advertising IDs from object storage into a warehouse.

Every error response is \`application/problem+json\` (RFC 9457) with a stable \`code\`. In addition to the codes listed for each
operation, an unknown path returns 404 \`not_found\`, and an unsupported method returns 405 \`method_not_allowed\` with
\`Allow\`. A request that is not valid HTTP returns 400, 408, or 431.

Within a version, responses may get additional fields. Unknown fields in a request are rejected.`;

const tags = [
  {
    name: 'imports',
    description: 'Marketplace imports: files of device IDs and attributes, and deletes of attribute data.',
  },
  { name: 'audiences', description: 'First-party audiences, created from files of device IDs and events.' },
  { name: 'uploads', description: 'File uploads to the shared bucket without storage credentials.' },
  { name: 'events', description: 'A log of events, for clients that react to them.' },
  { name: 'keys', description: 'Your API keys.' },
  { name: 'customers', description: 'Your customers, and the user tokens that you use to act for them.' },
  { name: 'limits', description: 'Your rate and size limits.' },
  {
    name: 'operator',
    description: 'The state of the installation and of all partners, for operators who are signed in.',
  },
  { name: 'health', description: 'Health checks for operators.' },
];

const securitySchemes = {
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-inlet_session',
    description: 'The session of a user who is signed in to the console.',
  },
  apiKey: {
    type: 'http',
    scheme: 'bearer',
    description:
      "A partner's API key, `inlet_<environment>_key_…`. A key can be limited to certain scopes. Each operation names the scope that it requires.",
  },
  userToken: {
    type: 'apiKey',
    in: 'header',
    name: 'x-user-token',
    description:
      "A user token of one of the partner's customers limits the request to that customer's audiences. It is either issued by the operator or, if the operator has configured it, a JWT from an OpenID Connect issuer that names the partner and the customer. Without this header, the request uses the partner's own audiences, and the event log contains the events of all customers.",
  },
};

/** Content of packages/contract/openapi.json. */
export function openApiDocument(): JsonObject {
  const schemas = schemaCollector();
  const problems = problemCollector();
  const paths = new Map<string, Record<string, JsonObject>>();
  for (const operation of [
    ...partnerRoutes,
    ...audienceRoutes,
    ...operatorRoutes,
    ...publicRoutes,
    ...deprecatedRoutes,
  ]) {
    const path = operation.path.replaceAll(/:(\w+)/g, '{$1}');
    const item = paths.get(path) ?? {};
    item[operation.method.toLowerCase()] = operationObject(operation, schemas.schemaOf, problems.responsesOf);
    paths.set(path, item);
  }
  schemas.schemaOf(problemSchema);
  return {
    openapi: '3.1.1',
    info: { title: 'Inlet', version: '1.0.0', description, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    servers: [{ url: '/', description: 'This installation.' }],
    tags,
    paths: Object.fromEntries(paths),
    components: { schemas: schemas.components(), responses: problems.components(), headers, securitySchemes },
  };
}

type SchemaOf = (schema: z.ZodType) => JsonObject;

function operationObject(operation: Operation, schemaOf: SchemaOf, problemsOf: ProblemsOf): JsonObject {
  const { id, tag, summary, description: text, deprecated, body, bodyExamples } = operation;
  const parameters = parametersOf(operation, schemaOf);
  const requestBody = body && {
    required: !body.safeParse(undefined).success,
    content: { 'application/json': { schema: schemaOf(body), examples: bodyExamples } },
  };
  return {
    operationId: deprecated ? `${id}V1` : id,
    tags: [tag],
    summary,
    description: text,
    ...(deprecated ? { deprecated } : {}),
    security: securityOf(operation),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(requestBody ? { requestBody } : {}),
    responses: { ...responsesOf(operation, schemaOf), ...problemsOf(operation, examplePath(operation, parameters)) },
  };
}

/** In OpenAPI 3.1, the array of a security scheme other than OAuth lists the required roles. */
function securityOf(operation: Operation): JsonObject[] {
  const { tag, scope } = operation;
  if (tag === 'health') return [];
  if (scope === 'operator') return [{ session: [scope] }];
  // One of several scopes is enough.
  const alternatives = scope === undefined || scope === 'any' ? [[]] : [scope].flat().map((one) => [one]);
  return [
    ...alternatives.map((apiKey) => ({ apiKey })),
    ...(acceptsUserToken(operation) ? alternatives.map((apiKey) => ({ apiKey, userToken: [] })) : []),
  ];
}

type Parameter = { readonly name: string; readonly in: string; readonly example?: unknown };

function parametersOf(operation: Operation, schemaOf: SchemaOf): Parameter[] {
  const fieldsOf = (place: 'path' | 'query', schema: z.ZodObject | undefined): Parameter[] =>
    Object.entries<z.ZodType>(schema?.shape ?? {}).map(([name, field]) => {
      const { description: text, examples: _examples, ...rest } = schemaOf(field);
      // The JSON schema has no examples for transformed fields, so examples are taken from the zod schema.
      const [example] = z.array(z.unknown()).parse(field.meta()?.['examples'] ?? []);
      const required = place === 'path' ? { required: true } : {};
      return {
        name,
        in: place,
        ...required,
        schema: rest,
        description: text,
        ...(example === undefined ? {} : { example }),
      };
    });
  const requestHeaders = Object.entries(operation.headers ?? {}).map(([name, texts]) => ({
    name,
    in: 'header',
    schema: { type: 'string' },
    ...texts,
  }));
  const schema = schemaOf(idempotencyKeySchema);
  const idempotencyKey = { name: idempotencyKeyHeader, in: 'header', schema, ...idempotencyKeyDocumentation };
  return [
    ...fieldsOf('path', operation.params),
    ...fieldsOf('query', operation.query),
    ...requestHeaders,
    ...(isIdempotent(operation) ? [idempotencyKey] : []),
  ];
}

function examplePath({ path }: Operation, parameters: readonly Parameter[]): string {
  return path.replaceAll(/:(\w+)/g, (_all, name) => String(parameters.find((one) => one.name === name)?.example));
}

function responsesOf(operation: Operation, schemaOf: SchemaOf): JsonObject {
  const { response, otherResponses } = operation;
  const schema = response.schema && schemaOf(response.schema);
  const responses: NonNullable<Operation['otherResponses']> = { [response.status]: response, ...otherResponses };
  return Object.fromEntries(
    Object.entries(responses).map(([status, documented]) => {
      const { description: text, example, csv, events, location, isPaged, isConditional } = documented;
      const names: HeaderName[] = ['x-request-id'];
      if (operation.tag !== 'health' && operation.tag !== 'operator') names.push('ratelimit-policy', 'ratelimit');
      if (operation.deprecated) names.push('deprecation', 'sunset');
      if (location !== undefined) names.push('location');
      if (isPaged) names.push('link');
      if (isIdempotent(operation)) names.push('idempotent-replayed');
      if (isConditional) names.push('etag', 'cache-control', 'vary', 'preference-applied');
      const plain = { type: 'string' };
      const content = {
        ...(example === undefined ? {} : { 'application/json': { schema, example } }),
        ...(csv === undefined ? {} : { 'text/csv': { schema: plain, example: csv } }),
        ...(events === undefined
          ? {}
          : { 'text/event-stream': { schema: plain, example: events, 'x-event-data': schema } }),
      };
      const hasContent = Object.keys(content).length > 0;
      return [status, { description: text, headers: headerReferences(names), ...(hasContent ? { content } : {}) }];
    }),
  );
}

/** Converts zod schemas to JSON schemas. A schema with an ID becomes a component, and other schemas reference it. */
function schemaCollector(): { readonly schemaOf: SchemaOf; readonly components: () => JsonObject } {
  const jsonObject = z.record(z.string(), z.unknown());
  const named = new Map<string, unknown>();
  return {
    schemaOf: (schema) => {
      // `input`: responses may get additional fields within a version, so only request bodies reject unknown fields.
      const json = z.toJSONSchema(schema, { io: 'input', override: ({ jsonSchema }) => simplify(jsonSchema) });
      const text = JSON.stringify(json).replaceAll('"#/$defs/', '"#/components/schemas/');
      const { $schema: _draft, $defs = {}, ...own } = jsonObject.parse(JSON.parse(text));
      for (const [id, definition] of Object.entries(jsonObject.parse($defs))) named.set(id, definition);
      return own;
    },
    components: () => Object.fromEntries([...named].toSorted(([one], [other]) => one.localeCompare(other))),
  };
}

/**
 * The server parses IDs and sequences from digits, and clients send them as numbers. The safe-integer bounds add no
 * information.
 */
function simplify(schema: z.core.JSONSchema.BaseSchema): void {
  const minimum = minimumOfDigits.get(schema.pattern ?? '');
  if (minimum !== undefined) {
    delete schema.pattern;
    Object.assign(schema, { type: 'integer', minimum, maximum: 999_999_999_999_999 });
  }
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
}

const minimumOfDigits = new Map([
  ['^[1-9]\\d{0,14}$', 1],
  ['^\\d{1,15}$', 0],
]);

type ProblemsOf = (operation: Operation, instance: string) => JsonObject;

const headersOfStatus: Readonly<Record<number, readonly HeaderName[]>> = {
  401: ['www-authenticate'],
  409: ['retry-after'],
  429: ['retry-after', 'ratelimit-policy', 'ratelimit'],
  503: ['retry-after'],
};

/** Groups problems by status. Responses that are the same for many operations become components. */
function problemCollector(): { readonly responsesOf: ProblemsOf; readonly components: () => JsonObject } {
  const shared = new Map<string, JsonObject>();
  return {
    responsesOf: (operation, instance) => {
      const problems = Object.entries({ ...operation.problems, ...commonProblems(operation) });
      const byStatus = Map.groupBy(problems, ([code]) => catalogEntry(code).status ?? 500);
      const responses = [...byStatus].map(([status, examples]): [string, JsonObject] => {
        if (examples.some(([code]) => Object.hasOwn(operation.problems, code))) {
          return [String(status), problemResponse(status, examples, instance)];
        }
        const name = examples.map(([code]) => code).join('_or_');
        shared.set(name, problemResponse(status, examples, '/v2/firstparty/audience'));
        return [String(status), { $ref: `#/components/responses/${name}` }];
      });
      return Object.fromEntries(responses);
    },
    components: () => Object.fromEntries(shared),
  };
}

/** One response with an example for each possible code. */
function problemResponse(status: number, problems: readonly [string, object][], instance: string): JsonObject {
  const codes = problems.map(([code]) => code);
  const specific = { properties: { status: { const: status }, code: { enum: codes } } };
  const examples = problems.map(([code, example]): [string, JsonObject] => {
    const { title, cause, remedy } = catalogEntry(code);
    const type = `urn:inlet:error:${code}`;
    const request_id = headers['x-request-id'].example;
    const value = { type, title, status, instance, code, request_id, ...example };
    return [code, { summary: title, description: `${cause} ${remedy}`, value }];
  });
  return {
    description: codes.map((code) => `\`${code}\`: ${catalogEntry(code).title}.`).join(' '),
    headers: headerReferences(['x-request-id', ...(headersOfStatus[status] ?? [])]),
    content: {
      'application/problem+json': {
        schema: { allOf: [{ $ref: '#/components/schemas/Problem' }, specific] },
        examples: Object.fromEntries(examples),
      },
    },
  };
}

function catalogEntry(code: string): CatalogEntry {
  if (!isFailureCode(code)) throw new Error(`${code} is not in the catalog`);
  return failureCatalog[code];
}
