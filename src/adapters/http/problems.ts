import type { FastifyError, FastifyReply, FastifyRequest, ConnectionError, FastifyBaseLogger } from 'fastify';
import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FailureCode } from '../../domain/failure-catalog.ts';
import { Failure } from '../../domain/failure.ts';
import { transientErrorKind } from '../transient-errors.ts';
import type { Api } from './api.ts';
import type { Problem } from './records/problem.ts';
import { logCompleted } from './request-log.ts';
import { securityHeaders, setSecurityHeaders } from './security-headers.ts';

const problemType = 'application/problem+json';

function statusOf(failure: Failure): number {
  return failure.entry.status ?? 500;
}

/** Whether the error means that access was denied. */
export function isDenied(error: unknown): error is Failure {
  return error instanceof Failure && [401, 403].includes(statusOf(error));
}

/** Converts a failure to a problem document (RFC 9457). */
function problemOf(failure: Failure, instance: string, requestId: string): Problem {
  return {
    type: `urn:inlet:error:${failure.code}`,
    title: failure.entry.title,
    status: statusOf(failure),
    detail: failure.detail,
    instance,
    code: failure.code,
    request_id: requestId,
    ...(failure.fields.length === 0 ? {} : { errors: [...failure.fields] }),
  };
}

/** Returns the path of a request without its query, even if the request line contains an absolute URL. */
export function pathOf({ url }: { readonly url: string }): string {
  return url.replace(/^https?:\/\/[^/]*/i, '').split('?')[0] ?? '/';
}

/** Returns a function that lists the methods of a path. Call before the routes are added. */
function collectAllowedMethods(api: Api): (path: string) => readonly string[] {
  const routes: { readonly method: string | readonly string[]; readonly pattern: RegExp }[] = [];
  api.addHook('onRoute', ({ method, url }) => {
    routes.push({ method, pattern: new RegExp(`^${url.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]*')}$`) });
  });
  return (path) => [...new Set(routes.filter(({ pattern }) => pattern.test(path)).flatMap(({ method }) => method))];
}

/**
 * Sends every error response as `application/problem+json` with a code from the failure catalog. Call before the routes
 * are added.
 */
export function addProblemAnswers(api: Api): void {
  const methodsOf = collectAllowedMethods(api);
  api.setErrorHandler<FastifyError>((error, request, reply) => sendProblem(toFailure(error), request, reply));
  api.setNotFoundHandler((request, reply) => {
    const path = pathOf(request);
    const methods = methodsOf(path);
    const detail = `There is no ${request.method} ${path}.`;
    if (methods.length === 0) return sendProblem(new Failure('not_found', detail), request, reply);
    reply.header('allow', methods.join(', '));
    return sendProblem(new Failure('method_not_allowed', detail), request, reply);
  });
}

/** Sends errors that Fastify detects before routing, such as a malformed URL, as problems. */
export function answerFrameworkError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  void sendProblem(toFailure(error), request, reply);
  // Fastify runs no hooks for these requests.
  logCompleted(request, reply);
}

function sendProblem(failure: Failure, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return reply.serializer(String).send(problemPayload(failure, request, reply));
}

/** Sets the status and the headers of a problem and returns its body. */
export function problemPayload(failure: Failure, request: FastifyRequest, reply: FastifyReply): string {
  const status = statusOf(failure);
  if (status >= 500) request.log.error({ err: failure.cause ?? failure }, 'request failed');
  if (status === 401) reply.header('www-authenticate', 'Bearer');
  if (failure.retryAfterSeconds !== null) reply.header('retry-after', String(failure.retryAfterSeconds));
  if (failure.code === 'idempotency_key_in_use') reply.header('retry-after', '1');
  if ((status === 429 || status === 503) && !reply.hasHeader('retry-after')) reply.header('retry-after', '5');
  // Fastify runs no hooks for errors before routing.
  setSecurityHeaders(reply);
  reply.code(status).header('x-request-id', request.id).header('content-type', problemType);
  return JSON.stringify(problemOf(failure, pathOf(request), request.id));
}

function toFailure(error: FastifyError | Failure): Failure {
  if (error instanceof Failure) return error;
  return new Failure(codeOf(error), detailOf(error), { cause: error });
}

const codeByStatus: Readonly<Record<number, FailureCode>> = {
  400: 'invalid_request',
  404: 'not_found',
  414: 'not_found',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
};

function codeOf(error: FastifyError): FailureCode {
  if (transientErrorKind(error)) return 'unavailable';
  return codeByStatus[error.statusCode ?? 500] ?? 'internal';
}

/** Fastify's messages about a request are safe to return. Messages of internal errors are not. */
function detailOf(error: FastifyError): string {
  return (error.statusCode ?? 500) < 500 ? error.message : 'The request could not be completed.';
}

const codeByError: Readonly<Record<string, FailureCode>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
  HPE_HEADER_OVERFLOW: 'headers_too_large',
};

/** Responds to data that Node cannot parse as HTTP, and closes the connection. */
export function answerUnparsable(error: ConnectionError, socket: Socket, log: FastifyBaseLogger): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const requestId = randomUUID();
  const failure = new Failure(codeByError[error.code] ?? 'invalid_request', 'The request is not valid HTTP.');
  log.info({ requestId, reason: error.code }, 'unparsable request');
  const status = statusOf(failure);
  const body = JSON.stringify(problemOf(failure, '', requestId));
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      `content-type: ${problemType}`,
      `content-length: ${Buffer.byteLength(body)}`,
      `x-request-id: ${requestId}`,
      ...Object.entries(securityHeaders(socket)).map(([name, value]) => `${name}: ${value}`),
      'connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}

/** Handles a missing `Host` and an unknown `Expect`, to which Node would respond without a body. */
export function handleUnusualHeaders(api: Api): void {
  api.server.on('checkExpectation', (request, response) => {
    // RFC 9110 allows a server to ignore unknown expectations.
    api.server.emit('request', request, response);
  });
  api.addHook('onRequest', async (request, reply) => {
    if (request.headers.host !== undefined || request.raw.httpVersion !== '1.1') return;
    reply.header('connection', 'close');
    throw new Failure('invalid_request', 'The Host header is missing.');
  });
}
