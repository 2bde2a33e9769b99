import { findUndocumented } from '../openapi/find-undocumented.ts';
import { openApiDocument } from '../openapi/openapi-document.ts';

/** packages/contract/openapi.json, from the contract and the documentation beside the routes. */
export function openApiPage(): string {
  const document = openApiDocument();
  const complaints = findUndocumented(document);
  if (complaints.length > 0) throw new Error(`the OpenAPI document is incomplete:\n${complaints.join('\n')}`);
  return `${JSON.stringify(document, null, 2)}\n`;
}
