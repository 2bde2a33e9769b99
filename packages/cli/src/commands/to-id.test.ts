import { describe, expect, it } from 'vitest';
import { toId } from './to-id.ts';

describe('an id', () => {
  it('is a whole number as the service writes it', () => {
    expect([toId('import', '1'), toId('audience', '9007199254740991')]).toEqual([1, Number.MAX_SAFE_INTEGER]);
  });

  it.each(['', '0', '-1', '1e1', '0x1f', '0b1', '01', '+1', '1.0', ' 1', '1_0', '9007199254740993'])(
    'is not %j',
    (text) => {
      expect(() => toId('audience', text)).toThrow('is no id of an audience');
    },
  );
});
