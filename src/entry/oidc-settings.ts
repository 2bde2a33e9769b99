import { z } from 'zod';
import { isIssuerAddress } from '../domain/issued-token.ts';
import { parseNetwork } from '../domain/network-address.ts';
import { partnerNamePattern } from '../domain/partner.ts';

// A part of the configuration: user tokens that an OpenID Connect issuer makes. See docs/user-tokens.md.

/** With a public key each: whoever knows the key of HS256 could make tokens, and `none` has no key. */
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
    .refine(isIssuerAddress, { error: 'must be an https address without query, fragment and password' })
    .optional()
    .describe(
      'OpenID Connect issuer whose JWTs are taken as user tokens, to the letter as in their `iss`. None without it. See user-tokens.md.',
    ),
  INLET_OIDC_AUDIENCE: z.string().min(1).optional().describe('What must be in the `aud` of these tokens.'),
  INLET_OIDC_CUSTOMER_CLAIM: claim
    .optional()
    .describe('Claim of these tokens that holds the name of the customer; users must not be able to set it.'),
  INLET_OIDC_PARTNER_CLAIM: claim
    .optional()
    .describe('Claim of these tokens that holds the name of the partner; users must not be able to set it.'),
  INLET_OIDC_PARTNER: z
    .string()
    .regex(partnerNamePattern, 'must be the name of a partner')
    .optional()
    .describe('Instead of that claim: the one partner beside whose key the tokens of this issuer count.'),
  INLET_OIDC_TOKEN_TYPE: z
    .enum(['access-token', 'id-token'])
    .default('access-token')
    .describe('`access-token`: of RFC 9068, with the type `at+jwt`; `id-token`: with the type `JWT` or none.'),
  INLET_OIDC_ALGORITHMS: list
    .pipe(z.array(z.enum(algorithms)).min(1))
    .default(['RS256', 'ES256'])
    .describe(`Algorithms with which these tokens may be signed, separated by commas. Of ${algorithms.join(', ')}.`),
  INLET_OIDC_TOKEN_SECONDS: z.coerce
    .number()
    .int()
    .min(1)
    .max(604_800)
    .default(7_200)
    .describe('Longest time from `iat` to `exp`; a token that is good for longer is refused.'),
  INLET_OIDC_KEYS_SECONDS: z.coerce
    .number()
    .int()
    .min(1)
    .max(86_400)
    .default(300)
    .describe(
      'How old the keys of the issuer may be: so long after a key is gone its tokens can still be taken, and so long the issuer can be away.',
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
    .describe(
      'Networks that are not public and in which the issuer may be all the same, as `10.1.2.0/24`, separated by commas.',
    ),
};

type OidcConfig = z.infer<z.ZodObject<typeof oidcSettings>>;

const needed = ['INLET_OIDC_ISSUER', 'INLET_OIDC_AUDIENCE', 'INLET_OIDC_CUSTOMER_CLAIM'] as const;
const ofPartner = ['INLET_OIDC_PARTNER_CLAIM', 'INLET_OIDC_PARTNER'] as const;

export type MissingSetting = { readonly name: keyof OidcConfig; readonly message: string };

/** All or none: half of a configuration would refuse tokens, or take them beside every key, without a word. */
export function findMissingOidcSettings(config: OidcConfig): MissingSetting[] {
  const isSet = (name: keyof OidcConfig): boolean => config[name] !== undefined;
  if (![...needed, ...ofPartner, 'INLET_OIDC_NETWORKS' as const].some(isSet)) return [];
  const missing = needed.filter((name) => !isSet(name));
  const named = ofPartner.filter(isSet);
  return [
    ...missing.map((name) => ({ name, message: 'is missing beside the other settings of the issuer' })),
    ...(named.length === 1
      ? []
      : [
          {
            name: ofPartner[0],
            message: `either this or ${ofPartner[1]} is needed beside the other settings of the issuer`,
          },
        ]),
  ];
}
