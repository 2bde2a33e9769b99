import type { ImportLogError } from '@inlet/sdk/browser';
import { describe, expect, it } from 'vitest';
import { reasonsOf } from './reasons.ts';

const ofRows: ImportLogError = { code: 'invalid_id', message: '', file: 'a', row: 3, column: 'id', count: 8 };
const ofFile: ImportLogError = { ...ofRows, code: 'wrong_shape', row: null, column: null, count: 2 };

describe('reasonsOf', () => {
  it('lists the job first, then files, then rows by count', () => {
    const moreRows = { ...ofRows, code: 'empty_id', count: 20 };
    const ofJob = { ...ofFile, code: 'no_files', file: null, count: 1 };
    const reasons = reasonsOf({ errors: [ofRows, ofFile, moreRows, ofJob] });
    expect(reasons.map(({ code, of }) => [code, of])).toEqual([
      ['no_files', 'job'],
      ['wrong_shape', 'files'],
      ['empty_id', 'rows'],
      ['invalid_id', 'rows'],
    ]);
  });
});
