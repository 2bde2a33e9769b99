import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { referencePage } from './reference-page.ts';

describe('the API reference page', () => {
  const page = referencePage(readFileSync('packages/contract/openapi.json', 'utf8'));

  it('describes every operation once, by method and path', () => {
    for (const line of [
      '`POST /v1/marketplace/import`',
      '`PUT /v2/firstparty/audience/{audience_id}`',
      '`GET /v1/limits`',
    ])
      expect(page.split(`\n${line}\n`)).toHaveLength(2);
  });

  it('lists the scope, the body fields, and the status codes of an operation', () => {
    const [, queueImport = ''] = page.split('`POST /v1/marketplace/import`');
    const [text = ''] = queueImport.split('\n### ');
    expect(text).toContain('Scope: `marketplace:write`.');
    expect(text).toMatch(/\| `file_path` \| string \|/);
    expect(text).toMatch(/\| `mode` \| `"merge"`, `"replace"`, optional \|/);
    expect(text).toMatch(/\| 202 \|/);
    expect(text).toMatch(/\| 429 \|/);
  });

  it('lists deprecated paths without describing them again', () => {
    expect(page).toContain('- `PATCH /v1/firstparty/audience/{audience_id}`');
    expect(page).not.toContain('\n`PATCH /v1/firstparty/audience/{audience_id}`\n');
  });

  it('resolves every reference in the document', () => {
    expect(page).not.toContain('$ref');
    expect(page).not.toMatch(/\| \d{3} \| {2}\|/);
  });

  it('escapes text that Markdown would interpret as HTML', () => {
    expect(page).toContain('s3://&lt;bucket>/&lt;path>');
  });
});
