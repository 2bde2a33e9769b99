import type { FastifyReply, FastifyRequest } from 'fastify';

export function logCompleted(request: FastifyRequest, reply: FastifyReply): void {
  reply.log.info(fieldsOf(request, reply), 'request completed');
}

export function logErrored(error: Error, request: FastifyRequest, reply: FastifyReply): void {
  reply.log.error({ ...fieldsOf(request, reply), err: error }, 'request errored');
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
