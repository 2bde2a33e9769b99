import { healthOperations } from '@inlet/contract/health';
import type { FastifyBaseLogger } from 'fastify';
import type { Api } from '../server.ts';

/** A server behind the service. */
export type Dependency = {
  readonly name: string;
  /** Without it no request can be answered. What others do waits for them, and requests are taken meanwhile. */
  readonly isNeededByRequests: boolean;
  readonly check: (signal: AbortSignal) => Promise<void>;
};

type State = Omit<Dependency, 'check'> & { readonly state: 'ok' | 'unavailable' };

const { path, answer } = healthOperations.getReady;
const checkTimeout = 3_000;

/** Anybody may ask, as often as they like: the servers behind the service are asked five times a second. */
const keptMs = 200;

export function addReady(api: Api, dependencies: readonly Dependency[]): void {
  const look = (): Promise<State[]> => Promise.all(dependencies.map((dependency) => stateOf(dependency, api.log)));
  let last: { readonly at: number; readonly states: Promise<State[]> } | null = null;
  api.get(path, { logLevel: 'silent', schema: { response: { 200: answer, 503: answer } } }, async (_request, reply) => {
    const now = performance.now();
    if (last === null || now - last.at >= keptMs) last = { at: now, states: look() };
    const states = await last.states;
    const isReady = states.every(({ isNeededByRequests, state }) => state === 'ok' || !isNeededByRequests);
    const status = isReady ? 'ok' : 'unavailable';
    reply.code(isReady ? 200 : 503);
    return { status, dependencies: Object.fromEntries(states.map(({ name, state }) => [name, state])) } as const;
  });
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
