import { z } from 'zod';
import type { HttpLimits } from '../adapters/http/http-limits.ts';
import { type RequestLimits, defaultRequestLimits } from '../domain/limits.ts';
import { count, networks } from './setting-types.ts';

/** Settings of the HTTP server: rate limits, size limits, timeouts, and TLS. */
export const httpSettings = {
  INLET_REQUESTS_PER_KEY: count(defaultRequestLimits.perKey).describe(
    'Maximum number of requests per minute with one API key, across all api processes. Further requests get 429.',
  ),
  INLET_REQUESTS_PER_PARTNER: count(defaultRequestLimits.perPartner).describe(
    'Maximum number of requests per minute across all keys of one partner and all api processes.',
  ),
  INLET_WRONG_KEYS_PER_ADDRESS: count(defaultRequestLimits.wrongKeysPerAddress).describe(
    'Maximum number of requests per minute with an invalid key from one address to one api process. Above this limit, unrecognized keys from that address are throttled.',
  ),
  INLET_MAX_HEADER_BYTES: count(defaultRequestLimits.maxHeaderBytes).describe(
    'Maximum size of the request line and headers in bytes. Larger requests get 431.',
  ),
  INLET_HEADERS_SECONDS: count(10).describe(
    'Timeout in seconds for receiving the request headers. Slower requests get 408.',
  ),
  INLET_REQUEST_SECONDS: count(30).describe(
    'Timeout in seconds for receiving the complete request. Slower requests get 408.',
  ),
  INLET_KEEP_ALIVE_SECONDS: count(72).describe(
    'Time, in seconds, after which an idle connection is closed. It must exceed the idle timeout of the load balancer.',
  ),
  INLET_MAX_CONNECTIONS: count(5_000).describe(
    'Maximum number of connections to one api process. Further connections are closed immediately.',
  ),
  INLET_TLS_CERT_FILE: z
    .string()
    .min(1)
    .optional()
    .describe(
      'File with the certificate chain (PEM), if the api terminates TLS itself. Reloaded when the file changes and on SIGHUP.',
    ),
  INLET_TLS_KEY_FILE: z.string().min(1).optional().describe('File with the private key for that certificate (PEM).'),
  INLET_TRUSTED_PROXIES: networks
    .optional()
    .describe(
      'Comma-separated addresses or networks of trusted proxies, for example `10.1.2.0/24`. The api trusts `X-Forwarded-For` only from these proxies.',
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

/** Returns null if the api does not terminate TLS itself. */
export function tlsPathsOf(config: Settings): { readonly cert: string; readonly key: string } | null {
  const { INLET_TLS_CERT_FILE: cert, INLET_TLS_KEY_FILE: key } = config;
  if (cert === undefined && key === undefined) return null;
  if (cert === undefined || key === undefined) {
    throw new Error('INLET_TLS_CERT_FILE and INLET_TLS_KEY_FILE must be set together (see docs/configuration.md).');
  }
  return { cert, key };
}
