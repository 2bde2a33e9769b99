import { type JWTVerifyGetKey, type JWTVerifyOptions, decodeJwt, errors, jwtVerify } from 'jose';
import { type TokenRules, clockToleranceSeconds, judgeToken } from '../../domain/issued-token.ts';
import type { Log } from '../../ports/observability.ts';
import type { IssuedTokens } from '../../ports/partner-store.ts';
import type { KeySet, Held, HeldKeys } from './key-set.ts';

export type IssuedTokenSettings = {
  readonly issuer: string;
  /** None with a shared secret: the keys of the issuer are public. */
  readonly algorithms: readonly string[];
  readonly rules: TokenRules;
};

/** Why a token is refused is logged in fixed words; nothing of the token is. */
export function oidcIssuedTokens(settings: IssuedTokenSettings, held: HeldKeys<KeySet>, log: Log): IssuedTokens {
  const { issuer, rules } = settings;
  const options: JWTVerifyOptions = {
    algorithms: [...settings.algorithms],
    issuer,
    audience: rules.audience,
    clockTolerance: clockToleranceSeconds,
    requiredClaims: ['iat', 'exp'],
  };
  const refuse = (why: string): null => {
    log.info({ why }, 'a user token was refused');
    return null;
  };
  return {
    read: async (token) => {
      const arrivedAt = held.now();
      const readWith = async ({ keys, askedAt }: Held<KeySet>): Promise<ReturnType<typeof judgeToken> | 'ask'> => {
        try {
          const { payload, protectedHeader } = await jwtVerify(token, named(keys), options);
          return judgeToken(protectedHeader, payload, rules, Date.now() / 1000);
        } catch (error) {
          const isUnknown = error instanceof errors.JWKSNoMatchingKey;
          if (isUnknown && askedAt < arrivedAt && mayHaveNewKey(token, issuer)) return 'ask';
          return { refusal: wordsOf(error) };
        }
      };
      if (!hasOneSpelling(token)) return refuse('it is not spelt as it was signed');
      let judgement = await readWith(await held.current());
      if (judgement === 'ask') judgement = await readWith(await held.since(arrivedAt));
      if (judgement === 'ask') return refuse('its key is not known');
      return 'bearer' in judgement ? judgement.bearer : refuse(judgement.refusal);
    },
  };
}

/** A key is found by its name only: which one is meant must not depend on how many there are during a rotation. */
function named(keys: KeySet): JWTVerifyGetKey {
  return async (header, token) => {
    if (typeof header.kid !== 'string') throw new errors.JWSInvalid('the header has no kid');
    return keys(header, token);
  };
}

/** The issuer is not asked for the key of a token that would be refused with it: it is of another one, or has expired. */
function mayHaveNewKey(token: string, issuer: string): boolean {
  try {
    const { iss, exp = 0 } = decodeJwt(token);
    return iss === issuer && exp > Date.now() / 1000 - clockToleranceSeconds;
  } catch {
    return false;
  }
}

/** The last character of base64url has bits that mean nothing: the same signature could be spelt in several ways. */
function hasOneSpelling(token: string): boolean {
  return token.split('.').every((part) => Buffer.from(part, 'base64url').toString('base64url') === part);
}

/** What jose says has values of the token in it; its codes have not. */
function wordsOf(error: unknown): string {
  if (error instanceof errors.JWTClaimValidationFailed || error instanceof errors.JWTExpired) {
    return `${error.code} ${error.claim}`;
  }
  if (error instanceof errors.JOSEError) return error.code;
  return error instanceof Error ? `its key cannot be used: ${error.name}` : 'its key cannot be used';
}
