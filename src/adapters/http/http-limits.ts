import { type RequestListener, type Server, type ServerOptions, createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { Api } from './api.ts';

/** Timeouts and connection limits. Inlet closes the connection of a client that exceeds a timeout. */
export type HttpLimits = {
  /** Time to receive the request headers. */
  readonly headersSeconds: number;
  /** Time to receive the whole request. */
  readonly requestSeconds: number;
  /** Idle time between two requests on a connection. */
  readonly keepAliveSeconds: number;
  readonly maxConnections: number;
  /** Addresses or networks whose `X-Forwarded-For` header is trusted. */
  readonly trustedProxies: readonly string[];
};

export type TlsFiles = { readonly cert: Buffer; readonly key: Buffer };

/** The server's certificate, which can be replaced at runtime. */
export type TlsSource = {
  readonly current: () => TlsFiles;
  readonly onChange: (use: (files: TlsFiles) => void) => void;
};

/** This timeout also closes the connection of a client that does not read its response. */
const idleSocketMs = 120_000;

export function createHttpServer(
  limits: HttpLimits & { readonly maxHeaderBytes: number; readonly tls: TlsSource | null },
  listener: RequestListener,
): Server {
  const headersTimeout = limits.headersSeconds * 1000;
  const options: ServerOptions = {
    headersTimeout,
    requestTimeout: Math.max(limits.requestSeconds, limits.headersSeconds) * 1000,
    // With Node's default of 30 s, timeouts could take twice as long as configured.
    connectionsCheckingInterval: Math.min(2_000, headersTimeout / 2),
    keepAliveTimeout: limits.keepAliveSeconds * 1000,
    maxHeaderSize: limits.maxHeaderBytes,
    // Inlet responds to a missing `Host` header with a problem document instead.
    requireHostHeader: false,
  };
  const server = limits.tls ? createTlsServer(limits.tls, options, listener) : createServer(options, listener);
  server.maxConnections = limits.maxConnections;
  server.setTimeout(idleSocketMs);
  return server;
}

function createTlsServer(tls: TlsSource, options: ServerOptions, listener: RequestListener): Server {
  const secure = { minVersion: 'TLSv1.2' } as const;
  const { headersTimeout: handshakeTimeout } = options;
  const server = createSecureServer(
    { ...options, ...secure, ...tls.current(), ...(handshakeTimeout === undefined ? {} : { handshakeTimeout }) },
    listener,
  );
  tls.onChange((files) => server.setSecureContext({ ...secure, ...files }));
  return server;
}

/** Many clients send `Content-Type: application/json` with every request, even without a body. */
export function acceptEmptyJsonBodies(api: Api): void {
  const parse = api.getDefaultJsonParser('error', 'error');
  api.removeContentTypeParser('application/json');
  api.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, null);
    else void parse(request, body, done);
  });
}
