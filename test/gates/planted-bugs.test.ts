import { describe, expect, it } from 'vitest';
import { bugs } from '../planted/bugs.ts';
import { withBug } from '../planted/with-bug.ts';

// `npm run test:long` plants every bug and checks that the auditor reports it. The gate only checks that each bug can
// still be planted.
describe('a bug that the auditor must report', () => {
  it.each(bugs)('can plant the bug: $name', (bug) => {
    const { original, text } = withBug(bug);
    expect(text).not.toBe(original);
  });
});
