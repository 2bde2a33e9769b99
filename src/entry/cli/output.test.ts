import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { wrapText, parseId } from './output.ts';

describe('wrapText', () => {
  it('breaks lines between words', () => {
    expect(wrapText('Start this server or fix its address.', 22, '  ')).toBe(
      '  Start this server or\n  fix its address.',
    );
  });

  it('does not break lines without a terminal', () => {
    expect(wrapText('Start this server or fix its address.', undefined, '  ')).toBe(
      '  Start this server or fix its address.',
    );
  });

  it('keeps every word and exceeds the width only for a single long word', () => {
    const words = fc.array(fc.stringMatching(/^[a-z]{1,12}$/), { minLength: 1 });
    fc.assert(
      fc.property(words, fc.integer({ min: 4, max: 40 }), (given, columns) => {
        const lines = wrapText(given.join(' '), columns, '  ').split('\n');
        expect(lines.flatMap((line) => line.trim().split(' '))).toEqual(given);
        const tooLong = lines.filter((line) => line.trim().includes(' ') && line.length > columns);
        expect(tooLong).toEqual([]);
      }),
    );
  });
});

describe('parseId', () => {
  it('accepts a whole number', () => {
    expect(parseId('job', '4711')).toBe(4711);
  });

  it.each(['1e1', '0x1f', '0', '-1', ' 1', '1.0', '', '9007199254740993'])('rejects %j', (text) => {
    expect(() => parseId('job', text)).toThrow(`"${text}" is not a valid job ID.`);
  });
});
