import type { FastifyRequest } from 'fastify';
import type { Failure } from '../../domain/failure.ts';
import { isDenied } from './problems.ts';

/** Well within the five seconds after which a key that was revoked must be of no use. */
const everyMs = 2_000;

/** Fails when the caller would not be let in now. */
type Check = () => Promise<unknown>;

const checks = new WeakMap<FastifyRequest, readonly Check[]>();

/** Whoever lets a request in says how to find out whether it still would. */
export function noteCheck(request: FastifyRequest, check: Check): void {
  checks.set(request, [...(checks.get(request) ?? []), check]);
}

/** Something that a caller waits for. */
type Waiting = { readonly isOver: () => boolean; readonly onRefused: (why: Failure) => void };

/**
 * Looks again and again whether the caller of a request that takes long would still be let in, until that is over. While
 * nobody can say, whoever was let in stays.
 */
export function whileAllowed(request: FastifyRequest, { isOver, onRefused }: Waiting): void {
  const again = checks.get(request) ?? [];

  async function look(): Promise<void> {
    if (isOver()) return;
    try {
      for (const check of again) await check();
      plan();
    } catch (error) {
      if (isDenied(error)) onRefused(error);
      else plan();
    }
  }

  // All at the same moments: those with the same key then share a look.
  const plan = (): void => void setTimeout(() => void look(), everyMs - (performance.now() % everyMs)).unref();
  plan();
}
