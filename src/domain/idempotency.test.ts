import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from './idempotency.ts';

describe('canonical JSON', () => {
  it('does not depend on the order of fields at any depth', () => {
    const one = { b: 1, a: { d: [1, { y: 2, x: 3 }], c: null } };
    const other = { a: { c: null, d: [1, { x: 3, y: 2 }] }, b: 1 };
    expect(canonicalJson(one)).toBe(canonicalJson(other));
    expect(canonicalJson(one)).toBe('{"a":{"c":null,"d":[1,{"x":3,"y":2}]},"b":1}');
  });

  it('preserves the order of lists and omits undefined fields', () => {
    expect(canonicalJson([1, 2])).not.toBe(canonicalJson([2, 1]));
    expect(canonicalJson({ a: undefined, b: 1 })).toBe('{"b":1}');
  });

  it('differs for any two values whose JSON differs', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});
