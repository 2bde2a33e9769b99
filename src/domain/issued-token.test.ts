import { describe, expect, it } from 'vitest';
import { type TokenRules, validateToken, isJwt } from './issued-token.ts';

const rules: TokenRules = {
  type: 'access-token',
  audience: 'inlet',
  customerClaim: 'org',
  partner: { claim: 'partner' },
  mostSeconds: 3_600,
};
const claims = { iat: 1_000, exp: 4_600, aud: 'inlet', org: 'Acme', partner: 'one' };
const bearer = { partner: 'one', customer: 'Acme' };

describe('a user token from an issuer', () => {
  it('identifies the customer and the partner by the configured claims', () => {
    expect(validateToken({ typ: 'at+jwt' }, claims, rules, 1_000)).toEqual({ bearer });
    expect(validateToken({ typ: 'at+jwt' }, claims, { ...rules, partner: { name: 'two' } }, 1_000)).toEqual({
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
  ] as const)('rejects a user token whose header does not declare the type $type', ({ type, good, bad }) => {
    for (const typ of good) expect(validateToken({ typ }, claims, { ...rules, type }, 1_000)).toEqual({ bearer });
    for (const typ of bad) {
      expect(validateToken({ typ }, claims, { ...rules, type }, 1_000)).toEqual({ rejection: 'wrong token type' });
    }
  });

  it.each<[object, RegExp]>([
    [{ iat: undefined }, /iat or exp is missing/],
    [{ exp: '4600' }, /iat or exp is missing/],
    [{ iat: 1_031 }, /iat is in the future/],
    [{ exp: 4_601 }, /exceeds INLET_OIDC_TOKEN_SECONDS/],
    [{ cnf: { jkt: 'x' } }, /proof of possession/],
    [{ partner: undefined }, /partner claim is missing/],
    [{ partner: ['one'] }, /partner claim is missing/],
    [{ org: undefined }, /customer claim is missing or invalid/],
    [{ org: 17 }, /customer claim is missing or invalid/],
    [{ org: '' }, /customer claim is missing or invalid/],
    [{ org: ' Acme' }, /customer claim is missing or invalid/],
    [{ org: 'Ac\0me' }, /customer claim is missing or invalid/],
    [{ org: '\uDC00' }, /customer claim is missing or invalid/],
    [{ org: 'x'.repeat(101) }, /customer claim is missing or invalid/],
  ])('rejects a user token with the claims %j', (change, rejection) => {
    const validation = validateToken({ typ: 'at+jwt' }, { ...claims, ...change }, rules, 1_000);
    expect('rejection' in validation && validation.rejection).toMatch(rejection);
  });

  it('does not read claims from the object prototype', () => {
    const inherited = { ...rules, customerClaim: 'toString', partner: { claim: 'constructor' } };
    expect(validateToken({ typ: 'at+jwt' }, claims, inherited, 1_000)).toEqual({
      rejection: 'partner claim is missing',
    });
  });

  it('recognizes a token from an issuer by its three parts, which no Inlet token has', () => {
    expect(isJwt('a.b-_.c')).toBe(true);
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
      expect(isJwt(other), other).toBe(false);
    }
  });
});
