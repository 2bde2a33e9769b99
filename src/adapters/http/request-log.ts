import { type FastifyReply, type FastifyRequest, LogController } from 'fastify';

/** Logs one line per request when the request completes. The arrival of a request is logged at level `debug`. */
export class OneLineLog extends LogController {
  override incomingRequest(request: FastifyRequest): void {
    request.log.debug({ req: request }, 'incoming request');
  }

  override requestCompleted(error: Error | null | undefined, request: FastifyRequest, reply: FastifyReply): void {
    if (error) reply.log.error({ ...fieldsOf(request, reply), err: error }, 'request errored');
    else logCompleted(request, reply);
  }
}

export function logCompleted(request: FastifyRequest, reply: FastifyReply): void {
  reply.log.info(fieldsOf(request, reply), 'request completed');
}

function fieldsOf(request: FastifyRequest, reply: FastifyReply): object {
  return { req: request, res: reply, responseTime: Math.round(reply.elapsedTime) };
}

/**
 * Returns the operation ID, `health`, `reference`, or `unknown`. The set of values is limited, because the value is
 * used as a metric label.
 */
export function operationOf({ routeOptions }: Pick<FastifyRequest, 'routeOptions'>): string {
  return routeOptions.config?.operation ?? 'unknown';
}
