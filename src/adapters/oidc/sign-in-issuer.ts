import {
  AuthorizationResponseError,
  ClientSecretBasic,
  type Configuration,
  type CustomFetch,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client';
import { Failure } from '../../domain/failure.ts';
import type { Network } from '../../domain/network-address.ts';
import type { Secret } from '../../domain/secret.ts';
import type { SignInIssuer } from '../../ports/console.ts';
import type { Log } from '../../ports/observability.ts';
import { coalesce } from '../coalesce.ts';
import { guardedAgents } from '../guarded-agents.ts';
import { guardedFetch } from './guarded-fetch.ts';

export type SignInIssuerSettings = {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: Secret;
  /** Private networks that may host the issuer. */
  readonly networks: readonly Network[];
  /** Where the issuer redirects the browser. */
  readonly callbackUrl: string;
};

const requestSeconds = 5;
/** The addresses in the discovery document rarely change. New signing keys are fetched when they are needed. */
const maxAgeMs = 3_600_000;
const scope = 'openid profile email';

/** Signs users in with the authorization code flow and PKCE (RFC 7636). */
export function signInIssuer(settings: SignInIssuerSettings, log: Log): SignInIssuer {
  const configuration = cachedConfiguration(settings);
  return {
    begin: async () => {
      const config = await configuration().catch((error: unknown) => {
        log.warn({ err: error }, 'cannot reach the issuer of the console');
        throw new Failure('issuer_away', `The issuer ${settings.issuer} is not available.`, { cause: error });
      });
      const state = { state: randomState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier() };
      const url = buildAuthorizationUrl(config, {
        redirect_uri: settings.callbackUrl,
        scope,
        state: state.state,
        nonce: state.nonce,
        code_challenge: await calculatePKCECodeChallenge(state.verifier),
        code_challenge_method: 'S256',
      });
      return { url: url.href, state };
    },
    finish: async (query, { state, nonce, verifier }) => {
      const url = new URL(settings.callbackUrl);
      url.search = query;
      try {
        const tokens = await authorizationCodeGrant(await configuration(), url, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        });
        return { ...tokens.claims() };
      } catch (error) {
        if (error instanceof AuthorizationResponseError && error.error === 'access_denied')
          return { failure: 'sign_in_denied' };
        // The messages of these errors contain no tokens.
        log.warn({ why: reasonOf(error) }, 'a sign-in to the console failed');
        return { failure: 'sign_in_failed' };
      }
    },
  };
}

function cachedConfiguration(settings: SignInIssuerSettings): () => Promise<Configuration> {
  const fetchFromIssuer = guardedFetch(guardedAgents(settings.networks));
  let cached: { readonly config: Configuration; readonly fetchedAt: number } | null = null;
  const fetchConfiguration = coalesce(async () => {
    const config = await discover(settings, fetchFromIssuer);
    cached = { config, fetchedAt: performance.now() };
    return config;
  });
  return async () => {
    if (cached && performance.now() - cached.fetchedAt < maxAgeMs) return cached.config;
    return fetchConfiguration();
  };
}

function discover(
  { issuer, clientId, clientSecret }: SignInIssuerSettings,
  fetchFromIssuer: CustomFetch,
): Promise<Configuration> {
  const isPlain = issuer.startsWith('http:');
  return discovery(new URL(issuer), clientId, undefined, ClientSecretBasic(clientSecret.reveal()), {
    [customFetch]: fetchFromIssuer,
    timeout: requestSeconds,
    // The signature of the ID token is verified although it arrives over TLS. Plain HTTP is possible only with a
    // loopback issuer.
    // oxlint-disable-next-line typescript/no-deprecated -- deprecated as a warning; needed for development
    execute: [enableNonRepudiationChecks, ...(isPlain ? [allowInsecureRequests] : [])],
  });
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const { message } = error;
  return 'code' in error ? `${String(error.code)} ${message}` : message;
}
