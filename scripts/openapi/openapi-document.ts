import { healthOperations } from '@inlet/contract/health';
import { deprecatedPathOf, operations, type Operation } from '@inlet/contract/operations';
import { problemSchema } from '@inlet/contract/problem';
import { documentation } from '../../src/adapters/http/documentation.ts';
import { headers } from './headers.ts';
import { schemaCollector, type JsonObject } from './json-schemas.ts';
import { operationObject, type DocumentedOperation } from './operation-object.ts';
import { problemCollector } from './problems.ts';

const description = `Takes files of mobile advertising ids from object storage into a warehouse.

Every answer that is not a success is \`application/problem+json\` (RFC 9457) with a stable \`code\`. Besides the codes of
each operation: a path that does not exist is 404 \`not_found\`, a method that a path does not have is 405
\`method_not_allowed\` with \`Allow\`. What cannot be read as HTTP at all is 400, 408 or 431.

Within a version, answers may get more fields. Fields that are not known are refused in a request.`;

const tags = [
  { name: 'imports', description: 'Marketplace imports: files of ids and attributes, and deletes of their data.' },
  { name: 'audiences', description: 'First-party audiences, made from files of ids and events.' },
  { name: 'limits', description: 'The most that the caller may send and ask for.' },
  { name: 'health', description: 'For whoever runs Inlet.' },
];

const apiKeyDescription =
  'An API key of the partner, `inlet_<environment>_key_…`. It can be limited to scopes; each operation names the one that it needs.';

const securitySchemes = {
  apiKey: { type: 'http', scheme: 'bearer', description: apiKeyDescription },
  userToken: {
    type: 'apiKey',
    in: 'header',
    name: 'x-user-token',
    description:
      'A user token of one of its customers: the call then sees and makes audiences of that customer only. One that the operator made, or, where the operator has set it up, a JWT of an OpenID Connect issuer that names the partner and the customer. Without the header the call sees and makes what is the own of the partner.',
  },
};

/** The OpenAPI document of the service: packages/contract/openapi.json. */
export function openApiDocument(): JsonObject {
  const schemas = schemaCollector();
  const problems = problemCollector();
  const paths = new Map<string, Record<string, JsonObject>>();
  for (const documented of documentedOperations()) {
    const path = documented.operation.path.replaceAll(/:(\w+)/g, '{$1}');
    const item = paths.get(path) ?? {};
    item[documented.operation.method.toLowerCase()] = operationObject(documented, schemas, problems);
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

/** Decision 28: the audiences stand under their deprecated paths too. */
function documentedOperations(): DocumentedOperation[] {
  const registry: Readonly<Record<keyof typeof documentation, Operation>> = { ...operations, ...healthOperations };
  const all = keysOf(registry).map((id): DocumentedOperation => ({
    id,
    operation: registry[id],
    documentation: documentation[id],
    isDeprecated: false,
  }));
  const deprecated = all.flatMap(({ id, operation, documentation: texts }) => {
    const path = deprecatedPathOf(operation.path);
    if (path === operation.path) return [];
    const answer = { ...texts.answer, ...(texts.answer.location ? { location: path } : {}) };
    return [
      { id: `${id}V1`, operation: { ...operation, path }, documentation: { ...texts, answer }, isDeprecated: true },
    ];
  });
  return [...all, ...deprecated];
}

function keysOf<Key extends string>(record: Readonly<Record<Key, unknown>>): Key[] {
  return Object.keys(record).filter((key): key is Key => Object.hasOwn(record, key));
}
