import { fileURLToPath } from 'node:url';
import type { ConsoleDeps } from '../adapters/http/console/console.ts';
import { cookieNamesFor } from '../adapters/http/console/cookies.ts';
import { readStaticFiles } from '../adapters/http/console/static-files.ts';
import { postgresConsoleLinks, postgresConsoleSessions } from '../adapters/postgres/console-sessions.ts';
import { signInIssuer } from '../adapters/oidc/sign-in-issuer.ts';
import { aesGcmSealer } from '../adapters/vault/aes-gcm-sealer.ts';
import { randomTokens } from '../adapters/vault/random-tokens.ts';
import { parseNetwork } from '../domain/network-address.ts';
import type { SignInIssuer } from '../ports/console.ts';
import type { Config } from './config.ts';
import type { Connections } from './wire-shared.ts';

const builtConsole = fileURLToPath(new URL('../../packages/console/dist', import.meta.url));

/** Returns null if the console has no URL. */
export function consoleOf(connections: Connections): ConsoleDeps | null {
  const { config, db } = connections;
  const { instrumentPort } = connections.observability;
  const { INLET_CONSOLE_URL: url } = config;
  if (url === undefined) return null;
  return {
    url,
    cookies: cookieNamesFor(url),
    sessions: instrumentPort('postgres', 'consoleSessions', postgresConsoleSessions(db)),
    links: instrumentPort('postgres', 'consoleLinks', postgresConsoleLinks(db)),
    tokens: randomTokens,
    times: {
      idleSeconds: config.INLET_CONSOLE_IDLE_SECONDS,
      absoluteSeconds: config.INLET_CONSOLE_SESSION_SECONDS,
    },
    signIn: {
      issuer: issuerOfConsole(connections, url),
      claimNames: {
        role: config.INLET_CONSOLE_OIDC_ROLE_CLAIM,
        partner: config.INLET_CONSOLE_OIDC_PARTNER_CLAIM,
        customer: config.INLET_CONSOLE_OIDC_CUSTOMER_CLAIM,
      },
      sealer: aesGcmSealer(config.INLET_SEALING_KEYS),
    },
    allowsApiKeys: config.INLET_CONSOLE_API_KEY_SIGN_IN,
    files: readStaticFiles(builtConsole),
    storageOrigin: storageOriginOf(config),
  };
}

/** Returns null if no issuer is configured. `readConfig` has already validated that the settings are complete. */
function issuerOfConsole({ config, log, observability }: Connections, url: string): SignInIssuer | null {
  const {
    INLET_CONSOLE_OIDC_ISSUER: issuer,
    INLET_CONSOLE_OIDC_CLIENT_ID: clientId,
    INLET_CONSOLE_OIDC_CLIENT_SECRET: clientSecret,
  } = config;
  if (issuer === undefined || clientId === undefined || clientSecret === undefined) return null;
  const networks = (config.INLET_CONSOLE_OIDC_NETWORKS ?? []).flatMap((text) => parseNetwork(text) ?? []);
  const settings = { issuer, clientId, clientSecret, networks, callbackUrl: `${url}/console/auth/callback` };
  return observability.instrumentPort('issuer', 'signInIssuer', signInIssuer(settings, log));
}

/** On AWS, the host name contains the bucket's name. */
function storageOriginOf(config: Config): string {
  const endpoint = config.INLET_S3_PUBLIC_ENDPOINT ?? config.INLET_S3_ENDPOINT;
  if (endpoint !== undefined) return new URL(endpoint).origin;
  return `https://${config.INLET_S3_BUCKET}.s3.${config.INLET_S3_REGION}.amazonaws.com`;
}
