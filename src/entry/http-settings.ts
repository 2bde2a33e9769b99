import { z } from 'zod';
import type { HttpLimits } from '../adapters/http/http-limits.ts';
import { type RequestLimits, defaultRequestLimits } from '../domain/limits.ts';
import { count, networks } from './setting-types.ts';

/** The part of the configuration that says who may send how much, how fast and how. */
export const httpSettings = {
  INLET_REQUESTS_PER_KEY: count(defaultRequestLimits.perKey).describe(
    'Requests that one API key may make in a minute, over all api processes; then 429.',
  ),
  INLET_REQUESTS_PER_PARTNER: count(defaultRequestLimits.perPartner).describe(
    'Requests that all keys of a partner together may make in a minute.',
  ),
  INLET_WRONG_KEYS_PER_ADDRESS: count(defaultRequestLimits.wrongKeysPerAddress).describe(
    'Requests with a wrong key that one address may send to one api process in a minute; then keys that are not known to be good have to wait.',
  ),
  INLET_MAX_HEADER_BYTES: count(defaultRequestLimits.maxHeaderBytes).describe(
    'Most bytes of the headers of a request, its path among them; then 431.',
  ),
  INLET_HEADERS_SECONDS: count(10).describe('How long the headers of a request may take to arrive; then 408.'),
  INLET_REQUEST_SECONDS: count(30).describe('How long a whole request may take to arrive; then 408.'),
  INLET_KEEP_ALIVE_SECONDS: count(72).describe(
    'How long a connection may stay open without a request; more than the load balancer in front keeps it.',
  ),
  INLET_MAX_CONNECTIONS: count(5_000).describe('Most connections to one api process; more are closed at once.'),
  INLET_TLS_CERT_FILE: z
    .string()
    .min(1)
    .optional()
    .describe('Certificate chain (PEM) with which the api itself ends TLS. Read again when it changes and on SIGHUP.'),
  INLET_TLS_KEY_FILE: z.string().min(1).optional().describe('Key of that certificate (PEM).'),
  INLET_TRUSTED_PROXIES: networks
    .optional()
    .describe(
      'Addresses or networks of proxies in front of the api, as `10.1.2.0/24`, separated by commas: from them `X-Forwarded-For` is taken as the address of the caller. From nobody, unless it is set.',
    ),
};

type Settings = z.infer<z.ZodObject<typeof httpSettings>>;

export function requestLimitsOf(config: Settings): RequestLimits {
  return {
    perKey: config.INLET_REQUESTS_PER_KEY,
    perPartner: config.INLET_REQUESTS_PER_PARTNER,
    wrongKeysPerAddress: config.INLET_WRONG_KEYS_PER_ADDRESS,
    maxHeaderBytes: config.INLET_MAX_HEADER_BYTES,
    maxBodyBytes: defaultRequestLimits.maxBodyBytes,
  };
}

export function httpLimitsOf(config: Settings): HttpLimits {
  return {
    headersSeconds: config.INLET_HEADERS_SECONDS,
    requestSeconds: config.INLET_REQUEST_SECONDS,
    keepAliveSeconds: config.INLET_KEEP_ALIVE_SECONDS,
    maxConnections: config.INLET_MAX_CONNECTIONS,
    trustedProxies: config.INLET_TRUSTED_PROXIES ?? [],
  };
}

/** Null where something else ends TLS, or nobody does. */
export function tlsPathsOf(config: Settings): { readonly cert: string; readonly key: string } | null {
  const { INLET_TLS_CERT_FILE: cert, INLET_TLS_KEY_FILE: key } = config;
  if (cert === undefined && key === undefined) return null;
  if (cert === undefined || key === undefined) {
    throw new Error('INLET_TLS_CERT_FILE and INLET_TLS_KEY_FILE are needed together (see docs/configuration.md).');
  }
  return { cert, key };
}
