import { describe, expect, it } from 'vitest';
import { visibleText } from './visible-text.ts';

describe('visibleText', () => {
  it.each([
    ['summer/1.csv.gz', 'summer/1.csv.gz'],
    ['Été 夏 🏖', 'Été 夏 🏖'],
    ['invoice\u202Egpj.csv', 'invoice\\u202egpj.csv'],
    ['two\nlines\0', 'two\\u000alines\\u0000'],
    ['zero\u200Bwidth', 'zero\\u200bwidth'],
    ['<img src=x onerror=alert(1)>', '<img src=x onerror=alert(1)>'],
    ['   ', '(blank)'],
    ['', '(blank)'],
  ])('shows %j as %j', (text, shown) => expect(visibleText(text)).toBe(shown));
});
