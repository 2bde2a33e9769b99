import { healthOperations } from '@inlet/contract/health';
import type { Api } from '../server.ts';

/** A server behind the service. */
export type Dependency = {
  readonly name: string;
  /** Without it no request can be answered. What others do waits for them, and requests are taken meanwhile. */
  readonly isNeededByRequests: boolean;
  readonly check: (signal: AbortSignal) => Promise<void>;
};

const { path, answer } = healthOperations.getReady;
const checkTimeout = 3_000;

export function addReady(api: Api, dependencies: readonly Dependency[]): void {
  api.get(path, { logLevel: 'silent', schema: { response: { 200: answer, 503: answer } } }, async (request, reply) => {
    const states = await Promise.all(
      dependencies.map(async ({ name, isNeededByRequests, check }) => {
        try {
          await withTimeout(check);
          return { name, isNeededByRequests, state: 'ok' as const };
        } catch (error) {
          request.log.warn({ dependency: name, err: error }, 'dependency unavailable');
          return { name, isNeededByRequests, state: 'unavailable' as const };
        }
      }),
    );
    const isReady = states.every(({ isNeededByRequests, state }) => state === 'ok' || !isNeededByRequests);
    const status = isReady ? 'ok' : 'unavailable';
    reply.code(isReady ? 200 : 503);
    return { status, dependencies: Object.fromEntries(states.map(({ name, state }) => [name, state])) } as const;
  });
}

async function withTimeout(check: Dependency['check']): Promise<void> {
  const signal = AbortSignal.timeout(checkTimeout);
  const late = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error(`no answer within ${checkTimeout} ms`)), { once: true });
  });
  await Promise.race([check(signal), late]);
}
