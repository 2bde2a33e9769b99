import { describe, expect, it } from 'vitest';
import { type TokenRules, judgeToken, looksIssued } from './issued-token.ts';

const rules: TokenRules = {
  type: 'access-token',
  audience: 'inlet',
  customerClaim: 'org',
  partner: { claim: 'partner' },
  mostSeconds: 3_600,
};
const claims = { iat: 1_000, exp: 4_600, aud: 'inlet', org: 'Acme', partner: 'one' };
const bearer = { partner: 'one', customer: 'Acme' };

describe('a token of an issuer', () => {
  it('speaks for the customer and the partner in the claims that are configured', () => {
    expect(judgeToken({ typ: 'at+jwt' }, claims, rules, 1_000)).toEqual({ bearer });
    expect(judgeToken({ typ: 'at+jwt' }, claims, { ...rules, partner: { name: 'two' } }, 1_000)).toEqual({
      bearer: { ...bearer, partner: 'two' },
    });
  });

  it.each([
    {
      type: 'access-token',
      good: ['at+jwt', 'AT+JWT', 'application/at+jwt'],
      bad: [undefined, 'JWT', 'at', '', 1, null],
    },
    {
      type: 'id-token',
      good: [undefined, 'JWT', 'jwt', 'application/jwt'],
      bad: ['at+jwt', 'logout+jwt', '', 1, null],
    },
  ] as const)('of the type $type says so in its header', ({ type, good, bad }) => {
    for (const typ of good) expect(judgeToken({ typ }, claims, { ...rules, type }, 1_000)).toEqual({ bearer });
    for (const typ of bad) {
      expect(judgeToken({ typ }, claims, { ...rules, type }, 1_000)).toEqual({ refusal: 'it is of another type' });
    }
  });

  it.each<[object, RegExp]>([
    [{ iat: undefined }, /from when to when/],
    [{ exp: '4600' }, /from when to when/],
    [{ iat: 1_031 }, /not issued yet/],
    [{ exp: 4_601 }, /longer than INLET_OIDC_TOKEN_SECONDS/],
    [{ cnf: { jkt: 'x' } }, /bound to a key/],
    [{ partner: undefined }, /no partner/],
    [{ partner: ['one'] }, /no partner/],
    [{ org: undefined }, /no customer/],
    [{ org: 17 }, /no customer/],
    [{ org: '' }, /no customer/],
    [{ org: ' Acme' }, /no customer/],
    [{ org: 'Ac\0me' }, /no customer/],
    [{ org: '\uDC00' }, /no customer/],
    [{ org: 'x'.repeat(101) }, /no customer/],
  ])('is refused with %j', (change, refusal) => {
    const judgement = judgeToken({ typ: 'at+jwt' }, { ...claims, ...change }, rules, 1_000);
    expect('refusal' in judgement && judgement.refusal).toMatch(refusal);
  });

  it('does not find a claim in what every object has', () => {
    const inherited = { ...rules, customerClaim: 'toString', partner: { claim: 'constructor' } };
    expect(judgeToken({ typ: 'at+jwt' }, claims, inherited, 1_000)).toEqual({ refusal: 'it names no partner' });
  });

  it('has three parts, which no token of ours has', () => {
    expect(looksIssued('a.b-_.c')).toBe(true);
    for (const other of [
      'inletu_abc',
      'a.b',
      'a.b.c.d',
      'a..c',
      '..',
      'a.b.',
      'a.b.c ',
      'a.b.=',
      `${'a'.repeat(8_189)}.b.c`,
    ]) {
      expect(looksIssued(other), other).toBe(false);
    }
  });
});
