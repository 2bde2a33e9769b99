import { describe, expect, it } from 'vitest';
import { readNext } from './read-response.ts';

describe('the Link header', () => {
  it.each([
    ['</v2/firstparty/audience?limit=50&cursor=117>; rel="next"', { limit: '50', cursor: '117' }],
    ['<https://elsewhere.example/list?cursor=a%20b>; rel=next', { cursor: 'a b' }],
    ['</list?cursor=1>; rel="prev", </list?cursor=3>; title="more"; rel="next last"', { cursor: '3' }],
    ['</list?cursor=1>; rel="prev"', null],
    ['</list?cursor=1>; rel="nextish"', null],
    ['</list>; rel="next"', null],
    ['nonsense', null],
    [null, null],
  ])('parses %j as %j', (header, query) => {
    expect(readNext(header)).toEqual(query);
  });
});
