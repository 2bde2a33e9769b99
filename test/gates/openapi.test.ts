import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { findUndocumented } from '../../scripts/openapi/find-undocumented.ts';
import { failureCatalog } from '../../src/domain/failure-catalog.ts';
import type { CatalogEntry } from '../../src/domain/job-failures.ts';
import { operationsOf, parseOpenApi, readOpenApiText, responseOf } from '../support/openapi/document.ts';
import { findBadExamples } from '../support/openapi/find-bad-examples.ts';

const text = readOpenApiText();
const document = parseOpenApi(text);

/** Returns the document with one replacement. */
function plant(before: string | RegExp, after: string): string {
  const changed = text.replace(before, after);
  if (changed === text) throw new Error(`the document does not contain ${String(before)}`);
  return changed;
}

async function validityOf(changed: string): Promise<unknown> {
  return new Validator().validate(z.looseObject({}).parse(JSON.parse(changed)));
}

describe('the OpenAPI document', () => {
  it('the OpenAPI document is valid OpenAPI 3.1', async () => {
    expect(await validityOf(text)).toEqual({ valid: true });
    expect(JSON.parse(text)).toMatchObject({ openapi: '3.1.1' });
  });

  it.each([
    { what: 'no title', before: '"title": "Inlet",', after: '' },
    { what: 'a parameter with an invalid location', before: '"in": "path"', after: '"in": "somewhere"' },
    { what: 'a response without a description', before: '"description": "The import is queued.",', after: '' },
    { what: 'a security scheme with an invalid type', before: '"type": "http"', after: '"type": "magic"' },
  ])('fails validation with $what', async ({ before, after }) => {
    expect(await validityOf(plant(before, after))).toMatchObject({ valid: false });
  });

  it("the OpenAPI document's examples match their schemas", () => {
    const { checked, bad } = findBadExamples(document);
    expect(bad).toEqual([]);
    expect(checked).toBeGreaterThan(200);
  });

  it.each([
    { what: 'a body', before: '"key_type": 1', after: '"key_type": 2' },
    { what: 'an unknown field', before: '"file_path": "with-bad-rows.csv",', after: '"path": "a.csv",' },
    {
      what: 'a response',
      before: '"example": {\n                  "import_log_id": 1',
      after: '"example": {\n"import_log_id": "1"',
    },
    { what: 'a parameter', before: '"example": 500001', after: '"example": -1' },
    { what: 'a time', before: '"2026-11-15T01:12:18.654Z"', after: '"yesterday"' },
    { what: 'a problem with the wrong code', before: '"code": "not_found"', after: '"code": "internal"' },
    { what: 'a problem with the wrong status', before: '"status": 404', after: '"status": 400' },
  ])('rejects an invalid example of $what', ({ before, after }) => {
    expect(findBadExamples(parseOpenApi(plant(before, after))).bad).not.toEqual([]);
  });

  it('documents every operation completely', () => {
    expect(findUndocumented(JSON.parse(text))).toEqual([]);
    expect(operationsOf(document).length).toBeGreaterThan(20);
  });

  it.each([
    { before: '"summary": "Queue an import",', after: '', violation: /^POST \S+import has no summary$/ },
    { before: /"description": "Returns one import or delete[^\n]*,\n/, after: '', violation: /has no description$/ },
    {
      before: /"description": "ID of the import or delete[^"]*",/,
      after: '',
      violation: /description of import_log_id$/,
    },
    {
      before: /"description": "The position at which the page starts[^"]*"/,
      after: '"x": 1',
      violation: /description of cursor$/,
    },
    { before: /,\s*"example": 500001/, after: '', violation: /no example of default_warehouse_segment_id$/ },
    { before: '"description": "The import is queued."', after: '"description": ""', violation: /description of 202$/ },
    {
      before: /"example": \{\s*"import_log_id": 1\s*\}/,
      after: '"x": 1',
      violation: /no example of 202 as application/,
    },
    { before: /"example": "file,row[^\n]*/, after: '"x": 1', violation: /no example of 200 as text\/csv$/ },
    {
      before: /"examples": \{(?=\s*"file": \{\s*"summary": "One file")/,
      after: '"x": {',
      violation: /example of a request body/,
    },
    { before: '"invalid_region": {', after: '"other": {', violation: /POST \S+ has no example of 400 invalid_region$/ },
    { before: /"unavailable": \{(?=\s*"summary")/, after: '"x": {', violation: /of 503 unavailable$/ },
  ])('fails the documentation check: $violation', ({ before, after, violation }) => {
    const violations = findUndocumented(JSON.parse(plant(before, after)));
    expect(violations.filter((line) => violation.test(line))).not.toEqual([]);
  });

  it('lists every error code that an operation can return', () => {
    const entries: readonly [string, CatalogEntry][] = Object.entries(failureCatalog);
    const ofResponses = entries.filter(([, { status }]) => status !== undefined).map(([code]) => code);
    const documented = operationsOf(document).flatMap((operation) =>
      Object.keys(operation.responses).flatMap((status) => {
        const problem = responseOf(document, operation, status)?.content['application/problem+json'];
        return Object.keys(problem?.examples ?? {});
      }),
    );
    // The service returns these codes before it has identified the operation.
    const ofNone = ['method_not_allowed', 'request_timeout', 'headers_too_large'];
    // The service returns these codes only to the console, whose routes are not part of the API.
    const ofConsole = ['csrf_token_invalid', 'console_link_invalid'];
    expect([...new Set([...documented, ...ofNone, ...ofConsole])].toSorted()).toEqual(ofResponses.toSorted());
  });
});
