import { describe, expect, it } from 'vitest';
import { didYouMean } from './did-you-mean.ts';

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
