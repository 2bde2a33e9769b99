import type { Deletion } from '@inlet/sdk/browser';
import { describe, expect, it } from 'vitest';
import { devicesOf, isOpen, noteOf } from './describe-deletion.ts';

const deletion: Deletion = {
  deletion_id: 5,
  status: 1,
  source: 'ids',
  ids: 2,
  invalid_lines: 0,
  waiting_for: null,
  error: null,
  has_proof: false,
  requested_at: '2026-11-15T01:14:02.120Z',
  finished_at: null,
};

describe('the note of a deletion', () => {
  it.each([
    ['loads', /earlier imports/],
    ['index', /index/],
    ['servers', /tried again/],
    ['replaced_parts', /ten minutes/],
    ['detached_parts', /operator/],
  ] as const)('says what a deletion that waits for %s means', (waiting_for, text) => {
    expect(noteOf({ ...deletion, waiting_for })).toMatch(text);
  });

  it('says why a deletion failed', () => {
    const error = { code: 'no_files', message: 'The file does not exist.' };
    expect(noteOf({ waiting_for: null, error })).toBe('The file does not exist.');
  });

  it('is empty for a deletion that waits for nothing', () => {
    expect(noteOf(deletion)).toBe('');
  });
});

describe('the devices of a deletion', () => {
  it.each([
    ['of a list', {}, '2'],
    ['of a file that is not read yet', { source: 'file', ids: 0 }, 'not counted yet'],
    ['of an empty file', { source: 'file', ids: 0, status: 2 }, '0'],
    [
      'of a file with lines that are not IDs',
      { source: 'file', ids: 1_200, invalid_lines: 1 },
      '1,200, 1 line skipped',
    ],
    ['of a file with many such lines', { source: 'file', invalid_lines: 3_000 }, '2, 3,000 lines skipped'],
  ] as const)('%s', (_name, changes, text) => expect(devicesOf({ ...deletion, ...changes })).toBe(text));
});

it.each([
  [0, true],
  [1, true],
  [2, false],
  [3, false],
] as const)('with status %i is open: %s', (status, expected) => expect(isOpen({ status })).toBe(expected));
