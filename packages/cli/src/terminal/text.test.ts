import { assert, property, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { didYouMean, escapeTerminal, escapeTerminalJson } from './text.ts';

const anything = string({ unit: 'binary' });
// oxlint-disable-next-line no-control-regex -- tests control characters
const obeyed = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

describe('escapeTerminal', () => {
  it.each([
    ['\x1b[2Jgone', String.raw`\x1b[2Jgone`],
    ['\x9b31m', String.raw`\x9b31m`],
    ['a\nb\r\tc', String.raw`a\x0ab\x0d\x09c`],
    ['\u202egnp.exe', String.raw`\u202egnp.exe`],
    ['Größe 東京 🎉', 'Größe 東京 🎉'],
  ])('makes the control characters in %j visible', (text, shown) => {
    expect(escapeTerminal(text)).toBe(shown);
  });

  it('leaves no control characters in any text', () => {
    assert(
      property(anything, (text) => {
        expect(escapeTerminal(text)).not.toMatch(obeyed);
      }),
    );
  });
});

describe('escapeTerminalJson', () => {
  it('returns equivalent JSON without control characters', () => {
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

describe('didYouMean', () => {
  it.each([
    ['prodution', ' Did you mean "production"?'],
    ['Staging', ' Did you mean "staging"?'],
    ['stagign', ' Did you mean "staging"?'],
    ['elsewhere', ''],
    ['x', ''],
  ])('suggests a correction for %s:%s', (word, question) => {
    expect(didYouMean(word, ['staging', 'production'])).toBe(question);
  });
});
