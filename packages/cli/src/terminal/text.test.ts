import { assert, property, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { didYouMean, escapeTerminal, escapeTerminalJson } from './text.ts';

const anything = string({ unit: 'binary' });
// oxlint-disable-next-line no-control-regex -- it is what this is about
const obeyed = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

describe('text from outside', () => {
  it.each([
    ['\x1b[2Jgone', String.raw`\x1b[2Jgone`],
    ['\x9b31m', String.raw`\x9b31m`],
    ['a\nb\r\tc', String.raw`a\x0ab\x0d\x09c`],
    ['\u202egnp.exe', String.raw`\u202egnp.exe`],
    ['Größe 東京 🎉', 'Größe 東京 🎉'],
  ])('%j is shown and not obeyed', (text, shown) => {
    expect(escapeTerminal(text)).toBe(shown);
  });

  it('has nothing left that a terminal obeys', () => {
    assert(
      property(anything, (text) => {
        expect(escapeTerminal(text)).not.toMatch(obeyed);
      }),
    );
  });
});

describe('JSON from outside', () => {
  it('means the same, and has nothing in it that a terminal obeys', () => {
    assert(
      property(anything, anything, (name, text) => {
        const value = { [`-${name}`]: [text] };
        const json = escapeTerminalJson(value);
        expect(JSON.parse(json)).toEqual(value);
        expect(json.replaceAll('\n', '')).not.toMatch(obeyed);
      }),
    );
  });
});

describe('did you mean', () => {
  it.each([
    ['prodution', ' Did you mean "production"?'],
    ['Staging', ' Did you mean "staging"?'],
    ['stagign', ' Did you mean "staging"?'],
    ['elsewhere', ''],
    ['x', ''],
  ])('%s:%s', (word, question) => {
    expect(didYouMean(word, ['staging', 'production'])).toBe(question);
  });
});
