import { describe, expect, it } from 'vitest';
import { toId } from './to-id.ts';

describe('the id of a command', () => {
  it('is a whole number as it is written', () => {
    expect(toId('job', '4711')).toBe(4711);
  });

  it.each(['1e1', '0x1f', '0', '-1', ' 1', '1.0', '', '9007199254740993'])('is not %j', (text) => {
    expect(() => toId('job', text)).toThrow(`"${text}" is no job id.`);
  });
});
