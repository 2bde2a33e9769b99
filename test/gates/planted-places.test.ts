import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { bugs } from '../planted/bugs.ts';
import { pathInTree } from './copy-of-tree.ts';

// `npm run test:planted` makes each mistake and sees whether the auditor notices; that takes too long for every run. What is
// looked at here is that each can still be made.
describe('a mistake that the auditor must notice', () => {
  it.each(bugs)('still has its place in the code: $name', ({ file, changes }) => {
    const text = readFileSync(pathInTree(file), 'utf8');
    expect(changes.map(([from]) => text.split(from).length - 1)).toEqual(changes.map(() => 1));
  });
});
