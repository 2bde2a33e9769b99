import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { partnerNamePattern, prefixOfPartner, toBadRowShare } from './partner.ts';

describe('a partner name', () => {
  it.each(['ab', 'acme', 'acme-2', 'a-b-c', '42', '0a', 'x'.repeat(40)])('accepts the partner name %s', (name) => {
    expect(name).toMatch(partnerNamePattern);
  });

  it.each([
    '',
    'a',
    'x'.repeat(41),
    'Acme',
    'acme_2',
    'acme/evil',
    '..',
    '-acme',
    'acme-',
    'a--b',
    'acme ',
    'acme\n',
    'acmé',
    'a.b',
    'a*',
  ])('rejects the partner name %j', (name) => {
    expect(name).not.toMatch(partnerNamePattern);
  });

  it("never derives a prefix that starts with another partner's prefix", () => {
    const name = fc
      .stringMatching(/^[a-z0-9]{1,4}(?:-[a-z0-9]{1,3}){0,2}$/)
      .filter((text) => partnerNamePattern.test(text));
    fc.assert(
      fc.property(name, name, (one, other) => {
        expect(prefixOfPartner(one).startsWith(prefixOfPartner(other))).toBe(one === other);
      }),
    );
  });

  it("derives the partner's prefix from the name", () => {
    expect(prefixOfPartner('acme')).toBe('acme/');
  });
});

describe("a partner's allowed share of rejected rows", () => {
  it.each([
    ['0', 0],
    ['0.01', 0.01],
    ['0.5', 0.5],
    ['1', 1],
    ['1.0', 1],
  ])('accepts the share %s', (text, share) => {
    expect(toBadRowShare(text)).toBe(share);
  });

  it.each(['', ' ', '-0.1', '1.1', '1.0000001', '2', '1%', '0,01', '.', '1e-2', '0x1', 'NaN', 'Infinity', 'half'])(
    'rejects the share %j',
    (text) => {
      expect(() => toBadRowShare(text)).toThrow(/^invalid_request: .*from 0 to 1/);
    },
  );
});
