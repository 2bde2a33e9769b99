import { type Operation, deprecatedPathOf, operations } from '@inlet/contract/operations';
import { type FastifyReply, type FastifyRequest, LogController } from 'fastify';

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

const named: readonly [string, Operation][] = Object.entries(operations);
const operationByRoute = new Map(
  named.flatMap(([name, { method, path }]) => [
    [`${method} ${deprecatedPathOf(path)}`, name],
    [`${method} ${path}`, name],
  ]),
);

/** Its name in the registry; `health`, `reference`, or `unknown` for whatever else is asked for. One of a few, whatever is sent. */
export function operationOf({ method, routeOptions }: Pick<FastifyRequest, 'method' | 'routeOptions'>): string {
  const path = routeOptions.url ?? '';
  if (path.startsWith('/health/')) return 'health';
  if (path === '/openapi.json' || path.startsWith('/docs')) return 'reference';
  return operationByRoute.get(`${method} ${path}`) ?? 'unknown';
}
