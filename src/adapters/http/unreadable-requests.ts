import type { ConnectionError, FastifyBaseLogger } from 'fastify';
import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { Failure } from '../../domain/failure.ts';
import type { FailureCode } from '../../domain/failure-catalogue.ts';
import { problemOf, problemType, statusOf } from './problem.ts';
import { securityHeaders } from './security-headers.ts';
import type { Api } from './server.ts';

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
