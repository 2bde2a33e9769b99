import { deprecatedPathOf, operations, type Operation } from '@inlet/contract/operations';
import type { FastifyRequest } from 'fastify';

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
