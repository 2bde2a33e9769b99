import { describe, expect, it } from 'vitest';
import { describeFailure, findingsOf } from './describe-upload.ts';

const rows = { good: 10, bad: 2, reasons: [], firstBad: [] };
const fine = { step: 'ready', isGzip: true, checked: { isGzip: true, fault: null, rows } } as const;
const failing = { ...fine, checked: { ...fine.checked, fault: { code: 'wrong_shape', detail: '' } } } as const;

describe('findingsOf', () => {
  it('adds up the results of the check', () => {
    const unreadable = { ...fine, checked: null };
    const unchecked = { ...fine, checked: undefined };
    expect(findingsOf([fine, fine, failing, unreadable, unchecked], [])).toEqual({
      failing: 2,
      rejectedRows: 6,
      validRows: 30,
      unchecked: 1,
      isMixed: false,
      isGzip: true,
    });
  });

  it('includes the files that were uploaded earlier', () => {
    expect(findingsOf([fine], [{ is_gzip: false }]).isMixed).toBe(true);
    expect(findingsOf([fine], [{ is_gzip: true }]).isMixed).toBe(false);
    expect(findingsOf([], [{ is_gzip: true }]).isGzip).toBe(true);
  });

  it('notes that gzip and plain files are mixed', () => {
    expect(findingsOf([fine, { ...fine, isGzip: false }], []).isMixed).toBe(true);
  });
});

describe('describeFailure', () => {
  it.each([
    [{ storageStatus: 0 }, /storage did not respond/],
    [{ storageStatus: 400 }, /status 400/],
    [{ problem: { from: 'sdk', code: 'network_failed', detail: 'x', attempts: 1 } }, /API did not respond/],
  ] as const)('describes %j', (failure, text) => expect(describeFailure(failure)).toMatch(text));
});
