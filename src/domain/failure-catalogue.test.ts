import { rejectReasons } from '@inlet/row-rule/reject-reason';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type CatalogueEntry, failureCatalogue, isFailureCode } from './failure-catalogue.ts';

const entries: readonly [string, CatalogueEntry][] = Object.entries(failureCatalogue);
const page = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8');

describe('the failure catalogue', () => {
  it.each(entries)('says of %s what it is, why it happens and what to do', (_code, { title, cause, remedy }) => {
    expect(title).toMatch(/^[A-Z].*[^.]$/);
    expect(cause).toMatch(/^[A-Z`].*\.$/);
    expect(remedy).toMatch(/^[A-Z`].*\.$/);
  });

  it.each(entries.filter(([, { status }]) => status !== undefined))(
    'answers %s with a 4xx that is the fault of the caller or a 5xx that is ours',
    (_code, { status = 0, fault }) => {
      expect(status).toBeGreaterThanOrEqual(fault === 'partner' ? 400 : 500);
      expect(status).toBeLessThan(fault === 'partner' ? 500 : 600);
    },
  );

  it.each(entries)('has a section on %s in docs/errors.md with its remedy', (code, { remedy }) => {
    expect(page).toContain(`### \`${code}\``);
    expect(page).toContain(remedy);
  });

  it('is all that docs/errors.md knows', () => {
    const documented = Array.from(page.matchAll(/^### `(\w+)`/gm), ([, code = '']) => code);
    expect(documented.toSorted()).toEqual(Object.keys(failureCatalogue).toSorted());
  });

  it('shares no code with the reasons of refused rows, which stand in the same list on a record', () => {
    expect(Object.keys(rejectReasons).filter(isFailureCode)).toEqual([]);
  });

  it.each([
    ['no_files', true],
    ['nonsense', false],
    ['', false],
    ['toString', false],
    ['__proto__', false],
  ])('knows whether "%s" is a code: %s', (text, known) => {
    expect(isFailureCode(text)).toBe(known);
  });
});
