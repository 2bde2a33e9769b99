import { z } from 'zod';
import { isConsoleUrl } from '../domain/console-address.ts';
import { isIssuerAddress } from '../domain/issued-token.ts';
import { Secret } from '../domain/secret.ts';
import { networks, seconds } from './setting-types.ts';

// Settings for the console and its sign-in. See docs/operators/console.md.

const claim = (fallback: string) => z.string().min(1).max(200).default(fallback);

export const consoleSettings = {
  INLET_CONSOLE_URL: z
    .string()
    .refine(isConsoleUrl, {
      error: 'must be an origin such as https://inlet.example.com, without a path; http:// only for a loopback address',
    })
    .transform((url) => new URL(url).origin)
    .optional()
    .describe(
      'Public origin of the api, for example `https://inlet.example.com`. The console is served under `/console/`. `inlet migrate` allows browsers on this origin to upload files to the shared bucket. If it is not set, there is no console. See [operators/console.md](operators/console.md).',
    ),
  INLET_CONSOLE_IDLE_SECONDS: seconds(1_800).describe('Time, in seconds, after which an idle console session ends.'),
  INLET_CONSOLE_SESSION_SECONDS: seconds(43_200).describe(
    'Maximum duration, in seconds, of a console session. The user then signs in again.',
  ),
  INLET_CONSOLE_OIDC_ISSUER: z
    .string()
    .refine(isIssuerAddress, { error: 'must be an https:// URL without a query or fragment' })
    .optional()
    .describe(
      'OpenID Connect issuer at which console users sign in. Its redirect URI is `<INLET_CONSOLE_URL>/console/auth/callback`. If it is not set, the console can be opened only with one-time links.',
    ),
  INLET_CONSOLE_OIDC_CLIENT_ID: z
    .string()
    .min(1)
    .optional()
    .describe('Client ID with which the console is registered at the issuer.'),
  INLET_CONSOLE_OIDC_CLIENT_SECRET: z
    .string()
    .min(1)
    .transform((value) => new Secret(value))
    .optional()
    .describe('Client secret for `INLET_CONSOLE_OIDC_CLIENT_ID`.'),
  INLET_CONSOLE_OIDC_ROLE_CLAIM: claim('inlet_role').describe(
    "Claim in the ID token that contains the user's role: `operator`, `partner`, or `customer`.",
  ),
  INLET_CONSOLE_OIDC_PARTNER_CLAIM: claim('inlet_partner').describe(
    "Claim in the ID token that contains the name of the user's partner.",
  ),
  INLET_CONSOLE_OIDC_CUSTOMER_CLAIM: claim('inlet_customer').describe(
    "Claim in the ID token that contains the name of the user's customer.",
  ),
  INLET_CONSOLE_OIDC_NETWORKS: networks
    .optional()
    .describe('Comma-separated private networks in which this issuer is allowed, for example `10.1.2.0/24`.'),
  INLET_CONSOLE_API_KEY_SIGN_IN: z
    .enum(['true', 'false'])
    .default('false')
    .transform((value) => value === 'true')
    .describe('For development only: whether users can sign in to the console with an API key.'),
};

type ConsoleConfig = z.infer<z.ZodObject<typeof consoleSettings>>;

const ofIssuer = [
  'INLET_CONSOLE_OIDC_ISSUER',
  'INLET_CONSOLE_OIDC_CLIENT_ID',
  'INLET_CONSOLE_OIDC_CLIENT_SECRET',
] as const;

/** Either all or none of the issuer settings must be set, and they require the console's URL. */
export function findMissingConsoleSettings(
  config: ConsoleConfig,
): { readonly name: keyof ConsoleConfig; readonly message: string }[] {
  const given = ofIssuer.filter((name) => config[name] !== undefined);
  if (given.length === 0) return [];
  return ['INLET_CONSOLE_URL' as const, ...ofIssuer]
    .filter((name) => config[name] === undefined)
    .map((name) => ({ name, message: `is required if ${given[0]} is set` }));
}
