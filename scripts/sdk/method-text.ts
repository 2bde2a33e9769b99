import type { MethodDescription } from './described-operations.ts';
import { comment, indent } from './type-of-schema.ts';

/** One operation as a method of the SDK's class. */
export function methodText(operation: MethodDescription): string {
  const { name, summary, isDeprecated, method, path, pathParameters, bodyType, answerType, isStream } = operation;
  const said = `${summary}: \`${method} ${path}\`.`;
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
    `proof: '${operation.proof}'`,
    ...(operation.alsoFine.length === 0 ? [] : [`alsoFine: [${operation.alsoFine.join(', ')}]`]),
    'options',
  ];
  const result = isStream
    ? `AsyncGenerator<Result<ServerEvent<${answerType}>>, void, undefined>`
    : `Promise<Answered<${answerType}>>`;
  return indent(
    [
      ...(isDeprecated
        ? ['/**', ` * ${said}`, ' * @deprecated The path goes; the same is at /v2.', ' */']
        : [comment(said)]),
      `${name}(${parameters.join(', ')}): ${result} {`,
      `  return this.#api.${isStream ? 'follow' : 'call'}({ ${call.join(', ')} });`,
      '}',
    ].join('\n'),
  );
}

/** The query is one of the options: an operation that gets its first one keeps its signature. */
function optionsText(type: string, query: ReturnType<typeof queryType>): string {
  if (query === null) return `options?: ${type}`;
  return query.isRequired
    ? `options: ${type} & { readonly query: ${query.type} }`
    : `options?: ${type} & { readonly query?: ${query.type} | undefined }`;
}

function queryType({ queryParameters }: MethodDescription): { type: string; isRequired: boolean } | null {
  if (queryParameters.length === 0) return null;
  const fields = queryParameters.map(({ name, type, isRequired }) => {
    // Of a page, the cursor and the limit are passed on as the header Link has them.
    const taken = type === 'number' ? 'number | string' : type;
    return isRequired ? `readonly ${name}: ${taken}` : `readonly ${name}?: ${taken} | undefined`;
  });
  return { type: `{ ${fields.join('; ')} }`, isRequired: queryParameters.some(({ isRequired }) => isRequired) };
}

function pathText({ path, pathParameters }: MethodDescription): string {
  if (pathParameters.length === 0) return `'${path}'`;
  return `\`${path.replaceAll(/\{(\w+)\}/g, '${encodeURIComponent($1)}')}\``;
}
