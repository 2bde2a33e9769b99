import { isCustomerName } from './customer.ts';

// What a user token of an OpenID Connect issuer must say, besides being signed, unexpired and of that issuer.

/** For whom a token speaks: a customer of a partner, by their names. */
export type TokenBearer = { readonly partner: string; readonly customer: string };

/** An access token is one of RFC 9068, which says so in its header. */
type TokenType = 'access-token' | 'id-token';

export type TokenRules = {
  readonly type: TokenType;
  readonly audience: string;
  /** The claim that holds the name of the customer. */
  readonly customerClaim: string;
  /** The claim that holds the name of the partner; or the one partner for which every token is. */
  readonly partner: { readonly claim: string } | { readonly name: string };
  /** From `iat` to `exp`. */
  readonly mostSeconds: number;
};

/** By how much the clock of the issuer may be wrong. */
export const clockToleranceSeconds = 30;

/** A header holds no more than this; real tokens have one or two thousand characters. */
const mostCharacters = 8_192;

/** Whether a user token has the form of a signed JWT, which no token of `inlet user-token create` has. */
export function looksIssued(token: string): boolean {
  return token.length <= mostCharacters && /^[\w-]+\.[\w-]+\.[\w-]+$/.test(token);
}

export type Judgement = { readonly bearer: TokenBearer } | { readonly refusal: string };

/** Judges a token whose signature, issuer, audience and times were found good. A refusal is for the log. */
export function judgeToken(
  { typ }: { readonly typ?: unknown },
  claims: Readonly<Record<string, unknown>>,
  rules: TokenRules,
  nowSeconds: number,
): Judgement {
  if (!hasType(typ, rules.type)) return { refusal: 'it is of another type' };
  const { iat, exp, aud, cnf } = claims;
  if (typeof iat !== 'number' || typeof exp !== 'number')
    return { refusal: 'it does not say from when to when it is good' };
  if (iat > nowSeconds + clockToleranceSeconds) return { refusal: 'it is not issued yet' };
  if (exp - iat > rules.mostSeconds) return { refusal: 'it is good for longer than INLET_OIDC_TOKEN_SECONDS' };
  // OpenID Connect Core 3.1.3.7: an ID token for others too is not to be trusted without knowing them.
  if (rules.type === 'id-token' && ![aud].flat().every((one) => one === rules.audience)) {
    return { refusal: 'it is for others too' };
  }
  // Only the holder of a key may use it (RFC 7800), and here nobody is asked to show that he has the key.
  if (cnf !== undefined) return { refusal: 'it is bound to a key' };
  const partner = 'name' in rules.partner ? rules.partner.name : claims[rules.partner.claim];
  if (typeof partner !== 'string') return { refusal: 'it names no partner' };
  const customer = claims[rules.customerClaim];
  if (typeof customer !== 'string' || !isCustomerName(customer)) return { refusal: 'it names no customer' };
  return { bearer: { partner, customer } };
}

/** RFC 7515, 4.1.9: a media type without "application/", in any case. */
function hasType(typ: unknown, type: TokenType): boolean {
  if (typ === undefined) return type === 'id-token';
  if (typeof typ !== 'string') return false;
  const media = typ.toLowerCase().replace(/^application\//, '');
  return media === (type === 'id-token' ? 'jwt' : 'at+jwt');
}

/**
 * Whether an address may be that of an issuer of tokens: https, without what has no place in an issuer (OpenID Connect
 * Discovery 1.0). Without TLS only at a loopback address, for tests: whoever can change the answer can make tokens.
 */
export function isIssuerAddress(text: string): boolean {
  if (!URL.canParse(text) || /[?#\s]/.test(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  if (username !== '' || password !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}

/**
 * Whether the issuer may say that its keys are there. It may be another host, and have a query; but not one without TLS
 * for an issuer with it.
 */
export function isKeySetAddress(text: string, issuer: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname) && issuer.startsWith('http:'));
}

/** An address, not a name: `localhost` is what a resolver makes of it. */
function isLoopback(hostname: string): boolean {
  return hostname === '127.0.0.1' || hostname === '[::1]';
}
