import { LogController, type FastifyReply, type FastifyRequest } from 'fastify';

/** One line for each request, when it is answered; that it came is of use only to whoever looks for one that never was. */
export class OneLineLog extends LogController {
  override incomingRequest(request: FastifyRequest): void {
    request.log.debug({ req: request }, 'incoming request');
  }

  override requestCompleted(error: Error | null | undefined, request: FastifyRequest, reply: FastifyReply): void {
    if (error) reply.log.error({ ...fieldsOf(request, reply), err: error }, 'request errored');
    else logAnswer(request, reply);
  }
}

export function logAnswer(request: FastifyRequest, reply: FastifyReply): void {
  reply.log.info(fieldsOf(request, reply), 'request completed');
}

function fieldsOf(request: FastifyRequest, reply: FastifyReply): object {
  return { req: request, res: reply, responseTime: Math.round(reply.elapsedTime) };
}
