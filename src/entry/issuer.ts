import { type IssuedTokenSettings, oidcIssuedTokens } from '../adapters/oidc/issued-tokens.ts';
import { type IssuerAddress, type KeySet, fetchKeySet, cacheKeys, keyTimes } from '../adapters/oidc/key-set.ts';
import { parseNetwork } from '../domain/network-address.ts';
import type { Log } from '../ports/observability.ts';
import type { IssuedTokens } from '../ports/partner-store.ts';
import type { Config } from './config.ts';

export type IssuerSettings = IssuedTokenSettings & { readonly address: IssuerAddress; readonly keysMs: number };

/** Returns null if no issuer is configured. `readConfig` has already validated that the settings are complete. */
export function issuerOf(config: Config): IssuerSettings | null {
  const {
    INLET_OIDC_ISSUER: issuer,
    INLET_OIDC_AUDIENCE: audience,
    INLET_OIDC_CUSTOMER_CLAIM: customerClaim,
    INLET_OIDC_PARTNER_CLAIM: partnerClaim,
    INLET_OIDC_PARTNER: name = '',
  } = config;
  if (issuer === undefined || audience === undefined || customerClaim === undefined) return null;
  return {
    issuer,
    address: { issuer, networks: (config.INLET_OIDC_NETWORKS ?? []).flatMap((text) => parseNetwork(text) ?? []) },
    algorithms: config.INLET_OIDC_ALGORITHMS,
    keysMs: config.INLET_OIDC_KEYS_SECONDS * 1000,
    rules: {
      type: config.INLET_OIDC_TOKEN_TYPE,
      audience,
      customerClaim,
      partner: partnerClaim === undefined ? { name } : { claim: partnerClaim },
      mostSeconds: config.INLET_OIDC_TOKEN_SECONDS,
    },
  };
}

type IssuerPort = { readonly fetchKeys: (timeoutMs: number) => Promise<KeySet> };

export function issuedTokensOf(
  config: Config,
  log: Log,
  instrument: (port: IssuerPort) => IssuerPort,
): IssuedTokens | null {
  const settings = issuerOf(config);
  if (!settings) return null;
  const { fetchKeys } = instrument({ fetchKeys: (timeoutMs) => fetchKeySet(settings.address, timeoutMs) });
  const held = cacheKeys(fetchKeys, keyTimes(settings.keysMs), log);
  return oidcIssuedTokens(settings, held, log);
}
