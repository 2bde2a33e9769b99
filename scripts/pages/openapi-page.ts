import { findUndocumented } from '../openapi/find-undocumented.ts';
import { openApiDocument } from '../openapi/openapi-document.ts';

/** Generates packages/contract/openapi.json from the routes. */
export function openApiPage(): string {
  const document = openApiDocument();
  const gaps = findUndocumented(document);
  if (gaps.length > 0) throw new Error(`The OpenAPI document is incomplete. Add the following:\n${gaps.join('\n')}`);
  return `${JSON.stringify(document, null, 2)}\n`;
}
