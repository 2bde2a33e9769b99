import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { wrapText, parseId } from './output.ts';

describe('a text in lines', () => {
  it('ends its lines between words', () => {
    expect(wrapText('Start this server, or mend its address.', 22, '  ')).toBe(
      '  Start this server,\n  or mend its address.',
    );
  });

  it('is one line where there is no terminal', () => {
    expect(wrapText('Start this server, or mend its address.', undefined, '  ')).toBe(
      '  Start this server, or mend its address.',
    );
  });

  it('loses no word, and no line is too long that has two', () => {
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

describe('the id of a command', () => {
  it('is a whole number as it is written', () => {
    expect(parseId('job', '4711')).toBe(4711);
  });

  it.each(['1e1', '0x1f', '0', '-1', ' 1', '1.0', '', '9007199254740993'])('is not %j', (text) => {
    expect(() => parseId('job', text)).toThrow(`"${text}" is no job id.`);
  });
});
