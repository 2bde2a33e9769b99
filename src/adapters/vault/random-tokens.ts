import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { Secret } from '../../domain/secret.ts';
import type { TokenIssuer } from '../../ports/console.ts';

const tokenBytes = 32;
/** 256 bits as base64url. */
const tokenPattern = /^[\w-]{43}$/;

/** Only the hash of a token is stored. A plain hash suffices, because a token with 256 random bits cannot be guessed. */
export const randomTokens: TokenIssuer = {
  issue: () => {
    const token = randomBytes(tokenBytes).toString('base64url');
    return { token: new Secret(token), hash: randomTokens.hash(token) };
  },
  hash: (token) => createHash('sha256').update(token).digest(),
  mayHaveIssued: (text) => tokenPattern.test(text),
  csrfTokenOf: (token) => createHmac('sha256', token).update('inlet csrf token').digest('base64url'),
  isCsrfTokenOf: (text, token) => {
    const [given, expected] = [Buffer.from(text), Buffer.from(randomTokens.csrfTokenOf(token))];
    return given.length === expected.length && timingSafeEqual(given, expected);
  },
};
