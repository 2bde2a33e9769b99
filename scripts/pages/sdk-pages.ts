import { failureCatalog } from '../../src/domain/failure-catalog.ts';
import type { CatalogEntry } from '../../src/domain/job-failures.ts';
import { describeMethods, describedSchemas } from '../sdk/described-operations.ts';
import { methodText } from '../sdk/method-text.ts';
import { comment, typeOfSchema } from '../sdk/type-of-schema.ts';
import { openApiPage } from './openapi-page.ts';

// packages/sdk/src/generated/: plain types and methods, so that the SDK needs neither zod nor the contract at run time.

const notice = (source: string): string => `// Generated from ${source} by "npm run generate". Do not edit.\n`;

/** Types of requests and responses. */
export function sdkSchemasPage(openApi: string = openApiPage()): string {
  const types = describedSchemas(openApi).map(([name, schema]) =>
    [
      ...(schema.description === undefined ? [] : [comment(schema.description)]),
      `export type ${name} = ${typeOfSchema(schema)};`,
    ].join('\n'),
  );
  return `${notice('packages/contract/openapi.json')}\n${types.join('\n\n')}\n`;
}

/** Codes of error responses, including responses to requests that match no operation. */
export function sdkCodesPage(): string {
  const entries: readonly [string, CatalogEntry][] = Object.entries(failureCatalog);
  const codes = entries.filter(([, { status }]) => status !== undefined);
  return [
    notice('src/domain/failure-catalog.ts'),
    '/** Problem codes and their titles. */',
    'export const apiCodes = {',
    ...codes.map(([code, { title }]) => `  ${code}: ${JSON.stringify(title)},`),
    '} as const;',
    '',
    'export type ApiCode = keyof typeof apiCodes;',
    '',
  ].join('\n');
}

/** One method per operation. */
export function sdkOperationsPage(openApi: string = openApiPage()): string {
  const methods = describeMethods(openApi);
  const body = methods.map((operation) => methodText(operation)).join('\n\n');
  const schemas = describedSchemas(openApi).map(([name]) => name);
  const used = schemas.filter((name) =>
    new RegExp(String.raw`\b${name}\b`).test(body.replaceAll(/\/\*\*.*?\*\//g, '')),
  );
  const streams = methods.some(({ isStream }) => isStream);
  return [
    notice('packages/contract/openapi.json'),
    `import type { Api, CallOptions, ${streams ? 'ServerEvent, ' : ''}WriteOptions } from '../call.ts';`,
    `import type { Answered${streams ? ', Result' : ''} } from '../result.ts';`,
    `import type {\n${used.map((name) => `  ${name},`).join('\n')}\n} from './schemas.ts';`,
    '',
    '/** One method per API operation. Parameters: path parameters, body, options. */',
    'export class Operations {',
    '  readonly #api: Api;',
    '',
    '  constructor(api: Api) {',
    '    this.#api = api;',
    '  }',
    '',
    body,
    '}',
    '',
  ].join('\n');
}
