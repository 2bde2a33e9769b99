import * as fc from 'fast-check';
import { decodeJwt, decodeProtectedHeader, importJWK, SignJWT } from 'jose';
import type { SigningKey } from '../../dev/signing-key.ts';

/** Variants of a valid token, each generated when it is sent. */
export function mutatedTokens(token: string, foreign: SigningKey): fc.Arbitrary<() => Promise<string>> {
  const parts = token.split('.');
  const visible = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCodePoint(code));
  const place = fc.nat({ max: token.length - 1 });
  const header = decodeProtectedHeader(token);
  const claims = decodeJwt(token);
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.constantFrom('none', 'HS256', 'RS256', 'ES256', 'JWT', 'at+jwt', 2 ** 53, -1, '../key', 'x'.repeat(500)),
  );
  const names = [
    ...Object.keys(header),
    ...Object.keys(claims),
    'jku',
    'jwk',
    'x5c',
    'crit',
    'b64',
    'nbf',
    'cnf',
    '__proto__',
  ];
  const change = fc.dictionary(fc.constantFrom(...names), value, { minKeys: 1, maxKeys: 3 });
  const withPart = (index: number, part: string): string => parts.toSpliced(index, 1, part).join('.');
  const texts = fc.oneof(
    fc.tuple(place, visible).map(([at, one]) => token.slice(0, at) + one + token.slice(at + 1)),
    fc.tuple(place, visible).map(([at, one]) => token.slice(0, at) + one + token.slice(at)),
    place.map((at) => token.slice(0, at) + token.slice(at + 1)),
    place.map((at) => token.slice(0, at)),
    fc.shuffledSubarray(parts, { minLength: 0, maxLength: 3 }).map((some) => some.join('.')),
    fc.tuple(fc.nat({ max: 2 }), fc.base64String({ maxLength: 100 })).map(([at, part]) => withPart(at, part)),
    change.map((changed) => withPart(0, encode({ ...header, ...changed }))),
    change.map((changed) => withPart(1, encode({ ...claims, ...changed }))),
    fc.constantFrom(' ', '=', '.', ',', '%00', `, ${token}`, '\t').map((end) => token + end),
  );
  return fc.oneof(
    // A trailing tab or space is not part of a header's value.
    texts.filter((text) => text.trim() !== token).map((text) => () => Promise.resolve(text)),
    change.map((changed) => async () => {
      const all = {
        ...header,
        alg: foreign.alg,
        ...(changed['kid'] === undefined ? {} : { kid: JSON.stringify(changed['kid']) }),
      };
      return new SignJWT(claims).setProtectedHeader(all).sign(await importJWK(foreign, foreign.alg));
    }),
  );
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}
