import { type RequestListener, type Server, type ServerOptions, createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { Api } from './api.ts';

/** How long a caller may take, and how many connections there may be. Whoever is slower is ended. */
export type HttpLimits = {
  /** For the headers of a request. */
  readonly headersSeconds: number;
  /** For a whole request. */
  readonly requestSeconds: number;
  /** Between two requests on a connection. */
  readonly keepAliveSeconds: number;
  readonly maxConnections: number;
  /** Addresses or networks that may say, by `X-Forwarded-For`, from where a request comes. */
  readonly trustedProxies: readonly string[];
};

export type TlsFiles = { readonly cert: Buffer; readonly key: Buffer };

/** The certificate of this server, which may be replaced while it runs. */
export type TlsSource = {
  readonly current: () => TlsFiles;
  readonly onChange: (use: (files: TlsFiles) => void) => void;
};

/** Nothing is read and nothing written for so long: whoever does not read its answer is ended too. */
const silentMs = 120_000;

export function createHttpServer(
  door: HttpLimits & { readonly maxHeaderBytes: number; readonly tls: TlsSource | null },
  listener: RequestListener,
): Server {
  const headersTimeout = door.headersSeconds * 1000;
  const options: ServerOptions = {
    headersTimeout,
    requestTimeout: Math.max(door.requestSeconds, door.headersSeconds) * 1000,
    // Node looks for the slow ones so often; by default every 30 s, which would double the time they have.
    connectionsCheckingInterval: Math.min(2_000, headersTimeout / 2),
    keepAliveTimeout: door.keepAliveSeconds * 1000,
    maxHeaderSize: door.maxHeaderBytes,
    // We answer it ourselves, as a problem.
    requireHostHeader: false,
  };
  const server = door.tls ? openSecurely(door.tls, options, listener) : createServer(options, listener);
  server.maxConnections = door.maxConnections;
  server.setTimeout(silentMs);
  return server;
}

function openSecurely(tls: TlsSource, options: ServerOptions, listener: RequestListener): Server {
  const secure = { minVersion: 'TLSv1.2' } as const;
  const { headersTimeout: handshakeTimeout } = options;
  const server = createSecureServer(
    { ...options, ...secure, ...tls.current(), ...(handshakeTimeout === undefined ? {} : { handshakeTimeout }) },
    listener,
  );
  tls.onChange((files) => server.setSecureContext({ ...secure, ...files }));
  return server;
}

/** Many clients announce JSON with every request; for one that has no body fields, nothing is a body too. */
export function takeEmptyBodies(api: Api): void {
  const parse = api.getDefaultJsonParser('error', 'error');
  api.removeContentTypeParser('application/json');
  api.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, null);
    else void parse(request, body, done);
  });
}
