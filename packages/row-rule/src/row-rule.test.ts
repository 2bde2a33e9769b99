import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { columnOfReason, isRejectReason, rejectReasons } from './row-rule.ts';

const page = readFileSync(new URL('../../../docs/errors.md', import.meta.url), 'utf8');

describe('reject reasons', () => {
  it.each(Object.entries(rejectReasons))('documents the reject reason %s in docs/errors.md', (reason, meaning) => {
    expect(page).toContain(`| \`${reason}\` | ${meaning} |`);
  });

  it.each([
    ['line_too_long', null],
    ['invalid_utf8', null],
    ['wrong_column_count', null],
    ['empty_id', 'id'],
    ['zero_id', 'id'],
    ['hashed_id', 'id'],
    ['invalid_id', 'id'],
    ['unknown_key', 'keys'],
  ] as const)('maps the reject reason %s to the column %s', (reason, column) => {
    expect(columnOfReason(reason)).toBe(column);
  });

  it('distinguishes reject reasons from other strings', () => {
    expect(['zero_id', 'no_files', '', 'toString', '__proto__'].filter(isRejectReason)).toEqual(['zero_id']);
  });
});
