import type { FastifyRequest } from 'fastify';
import type { Failure } from '../../domain/failure.ts';
import { isDenied } from './problems.ts';

/** Time between two checks. A revoked key must stop working within five seconds. */
const intervalMs = 2_000;

/** Rejects if the caller no longer has access. */
type AccessCheck = () => Promise<unknown>;

const checks = new WeakMap<FastifyRequest, readonly AccessCheck[]>();

/** Registers a check that `recheckAccess` repeats. */
export function addAccessCheck(request: FastifyRequest, check: AccessCheck): void {
  checks.set(request, [...(checks.get(request) ?? []), check]);
}

type LongRequest = { readonly isOver: () => boolean; readonly onDenied: (denial: Failure) => void };

/** Repeats the access checks of a long request until the request ends. Fails open while access cannot be rechecked. */
export function recheckAccess(request: FastifyRequest, { isOver, onDenied }: LongRequest): void {
  const registered = checks.get(request) ?? [];

  async function recheck(): Promise<void> {
    if (isOver()) return;
    try {
      for (const check of registered) await check();
      schedule();
    } catch (error) {
      if (isDenied(error)) onDenied(error);
      else schedule();
    }
  }

  // Aligned to the clock, so that requests with the same key share a lookup.
  const schedule = (): void =>
    void setTimeout(() => void recheck(), intervalMs - (performance.now() % intervalMs)).unref();
  schedule();
}
