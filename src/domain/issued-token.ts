import { isCustomerName } from './customer.ts';

// Rules for the claims of an OpenID Connect user token. The signature, expiry, and issuer are checked elsewhere.

/** The customer and partner that a token represents, by name. */
export type TokenBearer = { readonly partner: string; readonly customer: string };

/** Access tokens follow RFC 9068, which requires a `typ` header. */
type TokenType = 'access-token' | 'id-token';

export type TokenRules = {
  readonly type: TokenType;
  readonly audience: string;
  /** Claim with the customer name. */
  readonly customerClaim: string;
  /** Claim with the partner name, or a fixed partner for all tokens. */
  readonly partner: { readonly claim: string } | { readonly name: string };
  /** Maximum lifetime, from `iat` to `exp`. */
  readonly mostSeconds: number;
};

/** Tolerated clock difference between Inlet and the issuer. */
export const clockToleranceSeconds = 30;

/** Maximum token length. Typical tokens have one or two thousand characters. */
const mostCharacters = 8_192;

/**
 * Whether a user token has the form of a signed JWT. A token created by `inlet user-token create` never has this form.
 */
export function isJwt(token: string): boolean {
  return token.length <= mostCharacters && /^[\w-]+\.[\w-]+\.[\w-]+$/.test(token);
}

export type TokenValidation = { readonly bearer: TokenBearer } | { readonly rejection: string };

/**
 * Validates the claims of a token whose signature, issuer, audience, and times are valid. The rejection reason is
 * logged but never sent to the caller.
 */
export function validateToken(
  { typ }: { readonly typ?: unknown },
  claims: Readonly<Record<string, unknown>>,
  rules: TokenRules,
  nowSeconds: number,
): TokenValidation {
  if (!hasType(typ, rules.type)) return { rejection: 'wrong token type' };
  const { iat, exp, aud, cnf } = claims;
  if (typeof iat !== 'number' || typeof exp !== 'number') return { rejection: 'iat or exp is missing' };
  if (iat > nowSeconds + clockToleranceSeconds) return { rejection: 'iat is in the future' };
  if (exp - iat > rules.mostSeconds) return { rejection: 'lifetime exceeds INLET_OIDC_TOKEN_SECONDS' };
  // OpenID Connect Core 3.1.3.7: an ID token with additional audiences must not be trusted unless they are known.
  if (rules.type === 'id-token' && ![aud].flat().every((one) => one === rules.audience)) {
    return { rejection: 'it has additional audiences' };
  }
  // A `cnf` claim requires proof of possession of a key (RFC 7800), which Inlet does not verify.
  if (cnf !== undefined) return { rejection: 'it requires proof of possession' };
  const partner = 'name' in rules.partner ? rules.partner.name : claims[rules.partner.claim];
  if (typeof partner !== 'string') return { rejection: 'partner claim is missing' };
  const customer = claims[rules.customerClaim];
  if (typeof customer !== 'string' || !isCustomerName(customer))
    return { rejection: 'customer claim is missing or invalid' };
  return { bearer: { partner, customer } };
}

/** RFC 7515, 4.1.9: a case-insensitive media type whose "application/" prefix is optional. */
function hasType(typ: unknown, type: TokenType): boolean {
  if (typ === undefined) return type === 'id-token';
  if (typeof typ !== 'string') return false;
  const media = typ.toLowerCase().replace(/^application\//, '');
  return media === (type === 'id-token' ? 'jwt' : 'at+jwt');
}

/**
 * Whether a URL can be an issuer (OpenID Connect Discovery 1.0): https, without a query, a fragment, or credentials.
 * Plain HTTP is accepted only for a loopback address, for tests. Anyone who can tamper with a plain HTTP response can
 * issue tokens.
 */
export function isIssuerAddress(text: string): boolean {
  if (!URL.canParse(text) || /[?#\s]/.test(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  if (username !== '' || password !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}

/**
 * Whether a URL can be an issuer's key set. The URL can have a different host and a query, but it must use TLS if the
 * issuer does.
 */
export function isKeySetAddress(text: string, issuer: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname) && issuer.startsWith('http:'));
}

/** Accepts only IP addresses, because the meaning of `localhost` depends on the resolver. */
function isLoopback(hostname: string): boolean {
  return hostname === '127.0.0.1' || hostname === '[::1]';
}
