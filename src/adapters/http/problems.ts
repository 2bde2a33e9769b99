import { hasZodFastifySchemaValidationErrors } from '@fastify/type-provider-zod';
import type { Problem } from '@inlet/contract/problem';
import type {
  FastifyError,
  FastifyReply,
  FastifyRequest,
  FastifySchemaValidationError,
  ConnectionError,
  FastifyBaseLogger,
} from 'fastify';
import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FailureCode } from '../../domain/failure-catalogue.ts';
import { Failure, type FieldError } from '../../domain/failure.ts';
import { transientErrorKind } from '../transient-errors.ts';
import type { Api } from './api.ts';
import { logAnswer } from './request-log.ts';
import { securityHeaders, setSecurityHeaders } from './security-headers.ts';

const problemType = 'application/problem+json';

function statusOf(failure: Failure): number {
  return failure.entry.status ?? 500;
}

/** Whether it was refused because of who called. */
export function isDenied(error: unknown): error is Failure {
  return error instanceof Failure && [401, 403].includes(statusOf(error));
}

/** RFC 9457. */
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

/** The path of a request, without its query; also of one that names the whole address, as to a proxy. */
export function pathOf({ url }: { readonly url: string }): string {
  return url.replace(/^https?:\/\/[^/]*/i, '').split('?')[0] ?? '/';
}

/** Tells the methods of a path. To be called before the routes are added: it notes them as they come. */
function noteAllowedMethods(api: Api): (path: string) => readonly string[] {
  const routes: { readonly method: string | readonly string[]; readonly pattern: RegExp }[] = [];
  api.addHook('onRoute', ({ method, url }) => {
    routes.push({ method, pattern: new RegExp(`^${url.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]*')}$`) });
  });
  return (path) => [...new Set(routes.filter(({ pattern }) => pattern.test(path)).flatMap(({ method }) => method))];
}

/**
 * Every answer that is not a success is `application/problem+json` with a code of the catalogue. To be called before
 * the routes are added.
 */
export function addProblemAnswers(api: Api): void {
  const methodsOf = noteAllowedMethods(api);
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

/** What Fastify finds wrong before any route is known (a broken address, for example) is a problem like any other. */
export function answerFrameworkError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  void sendProblem(toFailure(error), request, reply);
  // No hook and no other log sees it.
  logAnswer(request, reply);
}

function sendProblem(failure: Failure, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const status = statusOf(failure);
  if (status >= 500) request.log.error({ err: failure.cause ?? failure }, 'request failed');
  if (status === 401) reply.header('www-authenticate', 'Bearer');
  if (failure.code === 'idempotency_key_in_use') reply.header('retry-after', '1');
  if ((status === 429 || status === 503) && !reply.hasHeader('retry-after')) reply.header('retry-after', '5');
  // Not by a hook alone: what Fastify refuses before a route is known runs none.
  setSecurityHeaders(reply);
  return reply
    .code(status)
    .header('x-request-id', request.id)
    .header('content-type', problemType)
    .serializer((body: unknown) => JSON.stringify(body))
    .send(problemOf(failure, pathOf(request), request.id));
}

function toFailure(error: FastifyError | Failure): Failure {
  if (error instanceof Failure) return error;
  if (hasZodFastifySchemaValidationErrors(error)) {
    const fields = error.validation.map(toFieldError);
    // An id that is no number cannot be anyone's.
    if (error.validationContext === 'params') return new Failure('not_found', 'There is no such thing.');
    return new Failure('invalid_request', 'The request breaks a rule; see errors.', { fields });
  }
  return new Failure(codeOf(error), detailOf(error), { cause: error });
}

function toFieldError({ instancePath, message }: FastifySchemaValidationError): FieldError {
  // The provider writes the whole body as "/", which in RFC 6901 is a field without a name.
  return { pointer: instancePath === '/' ? '' : instancePath, detail: message ?? 'is not valid' };
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

/** What Fastify says about a request may be told; what went wrong inside may not. */
function detailOf(error: FastifyError): string {
  return (error.statusCode ?? 500) < 500 ? error.message : 'The request could not be carried out.';
}

const codeByError: Readonly<Record<string, FailureCode>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
  HPE_HEADER_OVERFLOW: 'headers_too_large',
};

/** What Node cannot read as HTTP never becomes a request; it is answered on the connection, which is then closed. */
export function answerUnreadable(error: ConnectionError, socket: Socket, log: FastifyBaseLogger): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const requestId = randomUUID();
  const failure = new Failure(codeByError[error.code] ?? 'invalid_request', 'The request cannot be read as HTTP.');
  log.info({ requestId, reason: error.code }, 'request cannot be read');
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

/** What Node would answer by itself, without a body: a request without `Host`, and one with an unknown `Expect`. */
export function takeOddRequests(api: Api): void {
  api.server.on('checkExpectation', (request, response) => {
    // RFC 9110 lets a server pass over an expectation that it does not know.
    api.server.emit('request', request, response);
  });
  api.addHook('onRequest', async (request, reply) => {
    if (request.headers.host !== undefined || request.raw.httpVersion !== '1.1') return;
    reply.header('connection', 'close');
    throw new Failure('invalid_request', 'The header Host is missing.');
  });
}
