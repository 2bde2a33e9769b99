import { healthOperations } from '@inlet/contract/health';
import type { Api } from '../server.ts';

/** Something behind the service that must answer. */
export type Dependency = { readonly name: string; readonly check: (signal: AbortSignal) => Promise<void> };

const { path, answer } = healthOperations.getReady;
const checkTimeout = 3_000;

export function addReady(api: Api, dependencies: readonly Dependency[]): void {
  api.get(path, { logLevel: 'silent', schema: { response: { 200: answer, 503: answer } } }, async (request, reply) => {
    const states = await Promise.all(
      dependencies.map(async ({ name, check }): Promise<readonly [string, 'ok' | 'unavailable']> => {
        try {
          await withTimeout(check);
          return [name, 'ok'];
        } catch (error) {
          request.log.warn({ dependency: name, err: error }, 'dependency unavailable');
          return [name, 'unavailable'];
        }
      }),
    );
    const status = states.every(([, state]) => state === 'ok') ? 'ok' : 'unavailable';
    reply.code(status === 'ok' ? 200 : 503);
    return { status, dependencies: Object.fromEntries(states) } as const;
  });
}

async function withTimeout(check: Dependency['check']): Promise<void> {
  const signal = AbortSignal.timeout(checkTimeout);
  const late = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error(`no answer within ${checkTimeout} ms`)), { once: true });
  });
  await Promise.race([check(signal), late]);
}
