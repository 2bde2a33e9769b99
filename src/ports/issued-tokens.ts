import type { TokenBearer } from '../domain/issued-token.ts';

/** User tokens that are not made here, but by an OpenID Connect issuer that the configuration names. */
export interface IssuedTokens {
  /** For whom the token speaks; null when it is not good. Fails with `issuer_away` when that cannot be known. */
  read(token: string): Promise<TokenBearer | null>;
}
