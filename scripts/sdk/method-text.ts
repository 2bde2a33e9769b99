import type { MethodDescription } from './described-operations.ts';
import { comment, indent } from './type-of-schema.ts';

/** Generates the SDK method of an operation. */
export function methodText(operation: MethodDescription): string {
  const { name, summary, isDeprecated, method, path, pathParameters, bodyType, responseType, isStream } = operation;
  const description = `${summary}: \`${method} ${path}\`.`;
  const query = queryType(operation);
  const parameters = [
    ...pathParameters.map((parameter) => `${parameter.name}: ${parameter.type}`),
    ...(bodyType === null ? [] : [`body: ${bodyType}`]),
    optionsText(method === 'GET' ? 'CallOptions' : 'WriteOptions', query),
  ];
  const call = [
    `method: '${method}'`,
    `path: ${pathText(operation)}`,
    ...(query === null ? [] : [query.isRequired ? 'query: options.query' : 'query: options?.query']),
    ...(bodyType === null ? [] : ['body']),
    `auth: '${operation.auth}'`,
    ...(operation.acceptedStatuses.length === 0
      ? []
      : [`acceptedStatuses: [${operation.acceptedStatuses.join(', ')}]`]),
    'options',
  ];
  const result = isStream
    ? `AsyncGenerator<Result<ServerEvent<${responseType}>>, void, undefined>`
    : `Promise<Answered<${responseType}>>`;
  return indent(
    [
      ...(isDeprecated
        ? [
            '/**',
            ` * ${description}`,
            ' * @deprecated This path will be removed. Use the same operation under /v2.',
            ' */',
          ]
        : [comment(description)]),
      `${name}(${parameters.join(', ')}): ${result} {`,
      `  return this.#api.${isStream ? 'follow' : 'call'}({ ${call.join(', ')} });`,
      '}',
    ].join('\n'),
  );
}

/** The query is part of the options, so that adding a first query parameter does not change the signature. */
function optionsText(type: string, query: ReturnType<typeof queryType>): string {
  if (query === null) return `options?: ${type}`;
  return query.isRequired
    ? `options: ${type} & { readonly query: ${query.type} }`
    : `options?: ${type} & { readonly query?: ${query.type} | undefined }`;
}

function queryType({ queryParameters }: MethodDescription): { type: string; isRequired: boolean } | null {
  if (queryParameters.length === 0) return null;
  const fields = queryParameters.map(({ name, type, isRequired }) => {
    // Callers can pass cursors and limits as strings from the Link header.
    const accepted = type === 'number' ? 'number | string' : type;
    return isRequired ? `readonly ${name}: ${accepted}` : `readonly ${name}?: ${accepted} | undefined`;
  });
  return { type: `{ ${fields.join('; ')} }`, isRequired: queryParameters.some(({ isRequired }) => isRequired) };
}

function pathText({ path, pathParameters }: MethodDescription): string {
  if (pathParameters.length === 0) return `'${path}'`;
  return `\`${path.replaceAll(/\{(\w+)\}/g, '${encodeURIComponent($1)}')}\``;
}
