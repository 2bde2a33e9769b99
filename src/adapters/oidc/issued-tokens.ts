import { type JWTVerifyGetKey, type JWTVerifyOptions, decodeJwt, errors, jwtVerify } from 'jose';
import { type TokenRules, clockToleranceSeconds, validateToken } from '../../domain/issued-token.ts';
import type { Log } from '../../ports/observability.ts';
import type { IssuedTokens } from '../../ports/partner-store.ts';
import type { KeySet, CachedKeys, KeyCache } from './key-set.ts';

export type IssuedTokenSettings = {
  readonly issuer: string;
  /** Only asymmetric algorithms are accepted, because the issuer's keys are public. */
  readonly algorithms: readonly string[];
  readonly rules: TokenRules;
};

/** Verifies user tokens. If it rejects a token, it logs a fixed reason that contains no value from the token. */
export function oidcIssuedTokens(settings: IssuedTokenSettings, cache: KeyCache<KeySet>, log: Log): IssuedTokens {
  const { issuer, rules } = settings;
  const options: JWTVerifyOptions = {
    algorithms: [...settings.algorithms],
    issuer,
    audience: rules.audience,
    clockTolerance: clockToleranceSeconds,
    requiredClaims: ['iat', 'exp'],
  };
  const reject = (why: string): null => {
    log.info({ why }, 'rejected a user token');
    return null;
  };
  return {
    read: async (token) => {
      const arrivedAt = cache.now();
      const readWith = async ({
        keys,
        requestedAt,
      }: CachedKeys<KeySet>): Promise<ReturnType<typeof validateToken> | 'refetch'> => {
        try {
          const { payload, protectedHeader } = await jwtVerify(token, byKeyId(keys), options);
          return validateToken(protectedHeader, payload, rules, Date.now() / 1000);
        } catch (error) {
          const isUnknownKey = error instanceof errors.JWKSNoMatchingKey;
          if (isUnknownKey && requestedAt < arrivedAt && mayHaveNewKey(token, issuer)) return 'refetch';
          return { rejection: rejectionReason(error) };
        }
      };
      if (!isCanonical(token)) return reject('it is not canonical base64url');
      let result = await readWith(await cache.current());
      if (result === 'refetch') result = await readWith(await cache.since(arrivedAt));
      if (result === 'refetch') return reject('unknown signing key');
      return 'bearer' in result ? result.bearer : reject(result.rejection);
    },
  };
}

/** Requires a key ID. Without one, the choice of key would be ambiguous during a rotation, when several keys exist. */
function byKeyId(keys: KeySet): JWTVerifyGetKey {
  return async (header, token) => {
    if (typeof header.kid !== 'string') throw new errors.JWSInvalid('the header has no kid');
    return keys(header, token);
  };
}

/**
 * Whether fetching the issuer's keys again may help. It does not help if the token is expired or from another issuer.
 */
function mayHaveNewKey(token: string, issuer: string): boolean {
  try {
    const { iss, exp = 0 } = decodeJwt(token);
    return iss === issuer && exp > Date.now() / 1000 - clockToleranceSeconds;
  } catch {
    return false;
  }
}

/** Rejects alternative encodings of a signature. They exist because the last base64url character has unused bits. */
function isCanonical(token: string): boolean {
  return token.split('.').every((part) => Buffer.from(part, 'base64url').toString('base64url') === part);
}

/**
 * Logs the error codes of the `jose` library instead of its messages, because the messages contain values from the
 * token.
 */
function rejectionReason(error: unknown): string {
  if (error instanceof errors.JWTClaimValidationFailed || error instanceof errors.JWTExpired) {
    return `${error.code} ${error.claim}`;
  }
  if (error instanceof errors.JOSEError) return error.code;
  return error instanceof Error ? `unusable signing key: ${error.name}` : 'unusable signing key';
}
