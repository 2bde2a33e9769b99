import { type RequestListener, type Server, type ServerOptions, createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { Socket } from 'node:net';
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
  const sequential = oneRequestAtATime(listener);
  const server = limits.tls ? createTlsServer(limits.tls, options, sequential) : createServer(options, sequential);
  server.maxConnections = limits.maxConnections;
  server.setTimeout(idleSocketMs);
  return server;
}

/** Maximum number of pipelined requests that wait on a connection. Each takes about 2 KB of memory. */
const maxPipelined = 1_000;

/**
 * Handles the requests of a connection one after the other. Node parses pipelined requests immediately. A client that
 * pipelines requests and reads no response would otherwise make the process buffer all the responses. Node stops reading
 * from the connection while a response is not read, but not while the first response is being computed.
 */
function oneRequestAtATime(listener: RequestListener): RequestListener {
  const connections = new WeakMap<Socket, { waiting: number; last: Promise<void> }>();
  return (request, response) => {
    const { socket } = request;
    const connection = connections.get(socket) ?? { waiting: 0, last: Promise.resolve() };
    connections.set(socket, connection);
    const { last: previous } = connection;
    connection.waiting += 1;
    connection.last = new Promise((resolve) => {
      response.once('close', () => {
        connection.waiting -= 1;
        resolve();
      });
    });
    if (connection.waiting > maxPipelined) socket.destroy();
    else if (connection.waiting > 1)
      void handleAfter(previous, () => (socket.destroyed ? undefined : listener(request, response)));
    else listener(request, response);
  };
}

async function handleAfter(previous: Promise<void>, handle: () => void): Promise<void> {
  await previous;
  handle();
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
