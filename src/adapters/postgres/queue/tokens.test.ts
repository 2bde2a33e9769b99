import { describe, expect, it } from 'vitest';
import { fileQueue, priorityOf, shareSlots, toAttemptFailure } from './tokens.ts';

describe("a worker's file slots", () => {
  it.each([
    [1, { small: 0, large: 0, any: 1 }],
    [2, { small: 1, large: 1, any: 0 }],
    [3, { small: 1, large: 1, any: 1 }],
    [4, { small: 2, large: 1, any: 1 }],
    [16, { small: 8, large: 4, any: 4 }],
  ])('divides %i slots among small loads, large loads, and loads of any size', (slots, shares) => {
    expect(shareSlots(slots)).toEqual(shares);
  });
});

describe('the priority of a load', () => {
  it.each([
    ['a small load', { isSmall: true }, 1],
    ['a small load that waited for a dependency', { isSmall: true, waits: 3 }, 1],
    ['a small load after a timeout', { isSmall: true, waits: 1, breaks: 1 }, 0],
    ['a large load', { isSmall: false }, 0],
  ])('prioritizes only small loads that have not timed out: %s', (_name, data, priority) => {
    expect(priorityOf(fileQueue, data)).toBe(priority);
  });
});

describe('the failure that is stored with a token', () => {
  const failure = { code: 'unavailable', dependency: 'storage' };

  it.each([
    ['a failure', failure, failure],
    ['a failure without a dependency', { code: 'internal', dependency: null }, { code: 'internal', dependency: null }],
    ['a token from the previous release', null, null],
    ['a code from a newer release', { code: 'not_known_yet', dependency: 'storage' }, null],
    ['a dependency from a newer release', { ...failure, dependency: 'cache' }, { ...failure, dependency: null }],
    ['fields from a newer release', { ...failure, detail: 'x' }, failure],
    ['another value', 'unavailable', null],
  ])('is read to the extent that this release knows it: %s', (_what, stored, expected) => {
    expect(toAttemptFailure(stored)).toEqual(expected);
  });
});
