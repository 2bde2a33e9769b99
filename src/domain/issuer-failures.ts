import type { CatalogueEntry } from './catalogue-entry.ts';

/** What the way to the issuer of user tokens can say. A part of the failure catalogue. */
export const issuerFailures = {
  issuer_away: {
    title: 'The issuer of user tokens cannot be asked',
    cause:
      'The user token is one of the OpenID Connect issuer, and whether its key is still good cannot be known: the issuer does not answer, or not as it should, and what it said before is too old.',
    remedy:
      'Try again after the time in `Retry-After`. Tokens that the operator made, and calls without one, are not concerned.',
    fault: 'operator',
    status: 503,
  },
} as const satisfies Record<string, CatalogueEntry>;
