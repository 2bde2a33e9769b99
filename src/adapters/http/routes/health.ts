import type { FastifyBaseLogger } from 'fastify';
import { z } from 'zod';
import { defineRoute } from '../operation.ts';

export const getLive = defineRoute({
  id: 'getLive',
  tag: 'health',
  method: 'GET',
  path: '/health/live',
  summary: 'Check that the process is running',
  description:
    'Checks no dependencies, because an unavailable database is no reason to restart the process. Requires no API key.',
  response: {
    status: 200,
    description: 'The process is running.',
    schema: z.object({ status: z.literal('ok') }).meta({ id: 'Live' }),
    example: { status: 'ok' },
  },
  problems: {},
  options: { logLevel: 'silent' },
  handler: () => async () => ({ status: 'ok' as const }),
});

/** A server that Inlet depends on. */
export type Dependency = {
  readonly name: string;
  /** Whether API requests fail while this dependency is unavailable. If false, only jobs wait for it. */
  readonly isNeededByRequests: boolean;
  readonly check: (signal: AbortSignal) => Promise<void>;
};

type State = Omit<Dependency, 'check'> & { readonly state: 'ok' | 'unavailable' };

const checkTimeout = 3_000;

/**
 * The route requires no API key, so the number of callers is unlimited. Therefore, dependencies are checked at most
 * five times per second.
 */
const cacheMs = 200;

const state = z.enum(['ok', 'unavailable']);

export const getReady = defineRoute({
  id: 'getReady',
  tag: 'health',
  method: 'GET',
  path: '/health/ready',
  summary: 'Check that requests are accepted',
  description:
    'Checks every dependency. Only PostgreSQL determines the status. While ClickHouse or the bucket is unavailable, requests are accepted and loads wait. Requires no API key.',
  response: {
    status: 200,
    description:
      'Requests are accepted. `dependencies` shows which servers are unavailable. `topology` is `unavailable` while the shards differ from the recorded topology.',
    schema: z
      .object({
        status: state,
        dependencies: z.record(z.string(), state).meta({ description: 'State of each dependency, by name.' }),
      })
      .meta({ id: 'Ready' }),
    example: { status: 'ok', dependencies: { postgres: 'ok', clickhouse: 'ok', topology: 'ok', bucket: 'ok' } },
  },
  otherResponses: {
    503: {
      description: 'PostgreSQL is unavailable.',
      example: {
        status: 'unavailable',
        dependencies: { postgres: 'unavailable', clickhouse: 'ok', topology: 'unavailable', bucket: 'ok' },
      },
    },
  },
  problems: {},
  options: { logLevel: 'silent' },
  handler: ({ dependencies }: { readonly dependencies: readonly Dependency[] }) => {
    let cached: { readonly at: number; readonly states: Promise<State[]> } | null = null;
    return async (request, reply) => {
      const now = performance.now();
      if (cached === null || now - cached.at >= cacheMs) {
        // Uses the server's logger, because the request's logger is disabled.
        const { log } = request.server;
        cached = { at: now, states: Promise.all(dependencies.map((dependency) => stateOf(dependency, log))) };
      }
      const states = await cached.states;
      const isReady = states.every((one) => one.state === 'ok' || !one.isNeededByRequests);
      reply.code(isReady ? 200 : 503);
      return {
        status: isReady ? ('ok' as const) : ('unavailable' as const),
        dependencies: Object.fromEntries(states.map((one) => [one.name, one.state])),
      };
    };
  },
});

async function stateOf({ name, isNeededByRequests, check }: Dependency, log: FastifyBaseLogger): Promise<State> {
  try {
    await withTimeout(check);
    return { name, isNeededByRequests, state: 'ok' };
  } catch (error) {
    log.warn({ dependency: name, err: error }, 'dependency unavailable');
    return { name, isNeededByRequests, state: 'unavailable' };
  }
}

async function withTimeout(check: Dependency['check']): Promise<void> {
  const signal = AbortSignal.timeout(checkTimeout);
  const timedOut = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error(`no response within ${checkTimeout} ms`)), { once: true });
  });
  await Promise.race([check(signal), timedOut]);
}
