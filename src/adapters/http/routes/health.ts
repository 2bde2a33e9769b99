import { healthOperations } from '@inlet/contract/health';
import type { FastifyBaseLogger } from 'fastify';
import type { OperationDocumentation } from '../operation-documentation.ts';
import type { Api } from '../api.ts';

export const getLiveDocumentation: OperationDocumentation = {
  summary: 'Whether the process runs',
  description: 'Asks nobody else: a database that is away is no reason to restart the process. Needs no key.',
  answer: { description: 'It runs.', example: { status: 'ok' } },
  failures: {},
};

export const getReadyDocumentation: OperationDocumentation = {
  summary: 'Whether requests can be taken',
  description:
    'Asks every server that Inlet needs. Only PostgreSQL decides: while the engine or the bucket is away, requests are taken and loads wait. Needs no key.',
  answer: {
    description: 'Requests are taken. `dependencies` says which server does not answer.',
    example: { status: 'ok', dependencies: { postgres: 'ok', clickhouse: 'ok', bucket: 'ok' } },
  },
  otherAnswers: {
    503: {
      description: 'PostgreSQL does not answer.',
      example: { status: 'unavailable', dependencies: { postgres: 'unavailable', clickhouse: 'ok', bucket: 'ok' } },
    },
  },
  failures: {},
};

const { getLive, getReady } = healthOperations;

/** The process runs and answers. Asks nobody: a dead database is no reason to restart the process. */
export function addLive(api: Api): void {
  api.get(getLive.path, { logLevel: 'silent', schema: { response: { 200: getLive.answer } } }, async () => ({
    status: 'ok' as const,
  }));
}

/** A server behind the service. */
export type Dependency = {
  readonly name: string;
  /** Without it no request can be answered. What others do waits for them, and requests are taken meanwhile. */
  readonly isNeededByRequests: boolean;
  readonly check: (signal: AbortSignal) => Promise<void>;
};

type State = Omit<Dependency, 'check'> & { readonly state: 'ok' | 'unavailable' };

const checkTimeout = 3_000;

/** Anybody may ask, as often as they like: the servers behind the service are asked five times a second. */
const keptMs = 200;

export function addReady(api: Api, dependencies: readonly Dependency[]): void {
  const look = (): Promise<State[]> => Promise.all(dependencies.map((dependency) => stateOf(dependency, api.log)));
  let last: { readonly at: number; readonly states: Promise<State[]> } | null = null;
  api.get(
    getReady.path,
    { logLevel: 'silent', schema: { response: { 200: getReady.answer, 503: getReady.answer } } },
    async (_request, reply) => {
      const now = performance.now();
      if (last === null || now - last.at >= keptMs) last = { at: now, states: look() };
      const states = await last.states;
      const isReady = states.every(({ isNeededByRequests, state }) => state === 'ok' || !isNeededByRequests);
      const status = isReady ? 'ok' : 'unavailable';
      reply.code(isReady ? 200 : 503);
      return { status, dependencies: Object.fromEntries(states.map(({ name, state }) => [name, state])) } as const;
    },
  );
}

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
  const late = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error(`no answer within ${checkTimeout} ms`)), { once: true });
  });
  await Promise.race([check(signal), late]);
}
