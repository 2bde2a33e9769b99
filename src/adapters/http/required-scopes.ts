import { deprecatedPathOf, operations, type Operation, type RequiredScope } from '@inlet/contract/operations';
import type { RouteOptions } from 'fastify';
import type { Api } from './server.ts';

declare module 'fastify' {
  // oxlint-disable-next-line typescript/consistent-type-definitions -- only an interface can be added to
  export interface FastifyContextConfig {
    /** What a key must be for. */
    scope?: RequiredScope;
  }
}

const registry: readonly Operation[] = Object.values(operations);
const scopeByRoute = new Map(
  registry.flatMap(({ method, path, scope }) => [path, deprecatedPathOf(path)].map((at) => [`${method} ${at}`, scope])),
);

/**
 * Writes into the configuration of each route what its operation says in the registry. A route of which nobody says what
 * a key must be for stops the process at its start: forgotten is not the same as free.
 */
export function stateRequiredScopes(api: Api): void {
  api.addHook('onRoute', (route) => {
    const scope = route.config?.scope ?? scopeOf(route);
    if (!scope) throw new Error(`${String(route.method)} ${route.url} does not state the scope that it needs`);
    route.config = { ...route.config, scope };
  });
}

function scopeOf({ method, url }: RouteOptions): RequiredScope | undefined {
  // Fastify adds HEAD to each GET.
  const [first = ''] = [method].flat();
  return scopeByRoute.get(`${first === 'HEAD' ? 'GET' : first} ${url}`);
}
