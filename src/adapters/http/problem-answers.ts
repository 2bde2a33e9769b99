import { hasZodFastifySchemaValidationErrors } from '@fastify/type-provider-zod';
import type { FastifyError, FastifyReply, FastifyRequest, FastifySchemaValidationError } from 'fastify';
import { Failure, type FieldError } from '../../domain/failure.ts';
import type { FailureCode } from '../../domain/failure-catalogue.ts';
import { howAway } from '../away.ts';
import { noteAllowedMethods } from './allowed-methods.ts';
import { pathOf } from './path-of.ts';
import { problemOf, problemType, statusOf } from './problem.ts';
import { logAnswer } from './request-log.ts';
import { setSecurityHeaders } from './security-headers.ts';
import type { Api } from './server.ts';

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
  if (howAway(error)) return 'unavailable';
  return codeByStatus[error.statusCode ?? 500] ?? 'internal';
}

/** What Fastify says about a request may be told; what went wrong inside may not. */
function detailOf(error: FastifyError): string {
  return (error.statusCode ?? 500) < 500 ? error.message : 'The request could not be carried out.';
}
