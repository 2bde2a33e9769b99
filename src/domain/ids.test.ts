import { describe, expectTypeOf, it } from 'vitest';
import type { BatchId, JobId, LoadId, PartnerId } from './ids.ts';

describe('an ID', () => {
  it('does not accept an ID where an ID of another kind is expected', () => {
    expectTypeOf<JobId>().not.toExtend<PartnerId>();
    expectTypeOf<BatchId>().not.toExtend<LoadId>();
    expectTypeOf<LoadId>().not.toExtend<JobId>();
    expectTypeOf<PartnerId>().not.toExtend<BatchId>();
  });

  it('accepts a number literal as an ID', () => {
    expectTypeOf<number>().toExtend<JobId>();
  });
});
