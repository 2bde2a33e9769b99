import { describe, expect, it } from 'vitest';
import { Secret } from '../../domain/secret.ts';
import { reportKey } from './keys.ts';

const sealing = [new Secret(`k1:${'ab'.repeat(32)}`), new Secret(`k2:${'cd'.repeat(32)}`)];

describe('reportKey', () => {
  it('draws a deterministic number in [0, 1) for each message', () => {
    const { draw } = reportKey(undefined, sealing);
    for (let n = 0; n < 1000; n += 1) {
      expect(draw(String(n))).toBeGreaterThanOrEqual(0);
      expect(draw(String(n))).toBeLessThan(1);
    }
    expect(reportKey(undefined, sealing).draw('one')).toBe(draw('one'));
  });

  it('derives the report key from the first sealing key if no report key is configured', () => {
    const derived = reportKey(undefined, sealing).draw('one');
    expect(reportKey(undefined, sealing.slice(0, 1)).draw('one')).toBe(derived);
    expect(reportKey(undefined, sealing.slice(1)).draw('one')).not.toBe(derived);
    expect(reportKey(new Secret('ab'.repeat(32)), sealing).draw('one')).not.toBe(derived);
  });

  it('requires a report key or a sealing key', () => {
    expect(() => reportKey(undefined, [])).toThrow('INLET_REPORT_KEY');
  });
});
