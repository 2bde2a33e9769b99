import { z } from 'zod';
import { isIssuerAddress } from '../domain/issued-token.ts';
import { parseNetwork } from '../domain/network-address.ts';
import { partnerNamePattern } from '../domain/partner.ts';

// Settings for user tokens from an OpenID Connect issuer. See docs/user-tokens.md.

/**
 * Only asymmetric algorithms are supported. With HS256, a verifier could also issue tokens, because it has the same
 * key. The algorithm `none` uses no key.
 */
const algorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

const claim = z.string().min(1);
const list = z.string().transform((text) => text.split(',').map((part) => part.trim()));

export const oidcSettings = {
  INLET_OIDC_ISSUER: z
    .string()
    .refine(isIssuerAddress, { error: 'must be an https URL without a query, fragment, or password' })
    .optional()
    .describe(
      'OpenID Connect issuer whose JWTs are accepted as user tokens. It must equal their `iss` claim exactly. If it is not set, no JWTs are accepted. See user-tokens.md.',
    ),
  INLET_OIDC_AUDIENCE: z.string().min(1).optional().describe('Required value in the `aud` claim of these tokens.'),
  INLET_OIDC_CUSTOMER_CLAIM: claim
    .optional()
    .describe('Claim with the customer name. Users must not be able to set it.'),
  INLET_OIDC_PARTNER_CLAIM: claim.optional().describe('Claim with the partner name. Users must not be able to set it.'),
  INLET_OIDC_PARTNER: z
    .string()
    .regex(partnerNamePattern, 'must be the name of a partner')
    .optional()
    .describe('Name of the only partner that can use tokens from this issuer. Set either this or the partner claim.'),
  INLET_OIDC_TOKEN_TYPE: z
    .enum(['access-token', 'id-token'])
    .default('access-token')
    .describe(
      'Type of the tokens. `access-token` accepts RFC 9068 tokens with type `at+jwt`. `id-token` accepts tokens with type `JWT` or no type.',
    ),
  INLET_OIDC_ALGORITHMS: list
    .pipe(z.array(z.enum(algorithms)).min(1))
    .default(['RS256', 'ES256'])
    .describe(`Comma-separated list of accepted signature algorithms. Supported: ${algorithms.join(', ')}.`),
  INLET_OIDC_TOKEN_SECONDS: z.coerce
    .number()
    .int()
    .min(1)
    .max(604_800)
    .default(7_200)
    .describe(
      'Maximum lifetime of a token in seconds (`exp` minus `iat`). Tokens with a longer lifetime are rejected.',
    ),
  INLET_OIDC_KEYS_SECONDS: z.coerce
    .number()
    .int()
    .min(1)
    .max(86_400)
    .default(300)
    .describe(
      "Time, in seconds, for which the issuer's signing keys are cached. After the issuer removes a key, tokens signed with it are accepted for at most this time. While the issuer is unavailable, tokens are also accepted for at most this time.",
    ),
  INLET_OIDC_NETWORKS: list
    .pipe(
      z.array(
        z.string().refine((text) => parseNetwork(text) !== null, {
          error: 'must be a network such as 10.1.2.0/24 or fd00::/8',
        }),
      ),
    )
    .optional()
    .describe('Comma-separated private networks in which the issuer is allowed, for example `10.1.2.0/24`.'),
};

type OidcConfig = z.infer<z.ZodObject<typeof oidcSettings>>;

const needed = ['INLET_OIDC_ISSUER', 'INLET_OIDC_AUDIENCE', 'INLET_OIDC_CUSTOMER_CLAIM'] as const;
const ofPartner = ['INLET_OIDC_PARTNER_CLAIM', 'INLET_OIDC_PARTNER'] as const;

export type MissingSetting = { readonly name: keyof OidcConfig; readonly message: string };

/**
 * Either all or none of the required settings must be set. A partial configuration would silently reject tokens or
 * accept them with every partner's key.
 */
export function findMissingOidcSettings(config: OidcConfig): MissingSetting[] {
  const isSet = (name: keyof OidcConfig): boolean => config[name] !== undefined;
  if (![...needed, ...ofPartner, 'INLET_OIDC_NETWORKS' as const].some(isSet)) return [];
  const missing = needed.filter((name) => !isSet(name));
  const named = ofPartner.filter(isSet);
  return [
    ...missing.map((name) => ({ name, message: 'is required if any other INLET_OIDC_ setting is set' })),
    ...(named.length === 1
      ? []
      : [
          {
            name: ofPartner[0],
            message: `must be set, or ${ofPartner[1]} must be set, but not both, with the other INLET_OIDC_ settings`,
          },
        ]),
  ];
}
