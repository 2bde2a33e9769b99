import { describe, expect, it } from 'vitest';
import { nextQuery } from './error-list.ts';

describe('nextQuery', () => {
  it.each([
    [null, null],
    ['', null],
    ['</v1/marketplace/import/7/errors?limit=1000&cursor=a%2Bb>; rel="next"', 'limit=1000&cursor=a%2Bb'],
    ['</v1/marketplace/import/7/errors?limit=1000>; rel="prev"', null],
  ])('reads %j as %j', (link, query) => expect(nextQuery(link)).toBe(query));
});
