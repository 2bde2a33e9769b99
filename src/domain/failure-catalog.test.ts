import { rejectReasons } from '@inlet/row-rule/row-rule';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { failureCatalog, isFailureCode } from './failure-catalog.ts';
import type { CatalogEntry } from './job-failures.ts';

const entries: readonly [string, CatalogEntry][] = Object.entries(failureCatalog);
const page = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8');

describe('the failure catalog', () => {
  it.each(entries)(
    'has a title for %s, and a cause and a remedy in complete sentences',
    (_code, { title, cause, remedy }) => {
      expect(title).toMatch(/^[A-Z].*[^.]$/);
      expect(cause).toMatch(/^[A-Z`].*\.$/);
      expect(remedy).toMatch(/^[A-Z`].*\.$/);
    },
  );

  it.each(entries.filter(([, { status }]) => status !== undefined))(
    'assigns %s a 4xx status if the partner is at fault and a 5xx status otherwise',
    (_code, { status = 0, fault }) => {
      expect(status).toBeGreaterThanOrEqual(fault === 'partner' ? 400 : 500);
      expect(status).toBeLessThan(fault === 'partner' ? 500 : 600);
    },
  );

  it('marks exactly these failures as retryable', () => {
    const retryable = entries.filter(([, { isRetryable }]) => isRetryable).map(([code]) => code);
    expect(retryable).toEqual([
      'idempotency_key_in_use',
      'issuer_away',
      'request_timeout',
      'too_many_open_jobs',
      'too_many_uploads',
      'too_many_requests',
      'too_many_streams',
      'report_limit_reached',
      'internal',
      'unavailable',
      'topology_mismatch',
      'report_not_ready',
      'load_abandoned',
      'merges_behind',
      'replicas_behind',
      'bucket_mismatch',
      'credentials_unreadable',
      'rows_missing',
      'storage_address_refused',
    ]);
  });

  it('never marks a job or file failure as retryable if the partner is at fault', () => {
    const partnerFailures = entries.filter(([, { status, fault }]) => status === undefined && fault === 'partner');
    expect(partnerFailures.filter(([, { isRetryable }]) => isRetryable)).toEqual([]);
  });

  it.each(entries)('documents %s and its remedy in docs/errors.md', (code, { remedy }) => {
    expect(page).toContain(`### \`${code}\``);
    expect(page).toContain(remedy);
  });

  it('contains every code that docs/errors.md documents', () => {
    const documented = Array.from(page.matchAll(/^### `(\w+)`/gm), ([, code = '']) => code);
    expect(documented.toSorted()).toEqual(Object.keys(failureCatalog).toSorted());
  });

  it('shares no code with the reject reasons, because a record contains both', () => {
    expect(Object.keys(rejectReasons).filter(isFailureCode)).toEqual([]);
  });

  it.each([
    ['no_files', true],
    ['nonsense', false],
    ['', false],
    ['toString', false],
    ['__proto__', false],
  ])('recognizes whether "%s" is a failure code: %s', (text, known) => {
    expect(isFailureCode(text)).toBe(known);
  });
});
