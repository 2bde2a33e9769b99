import type { FastifyRequest } from 'fastify';

type Waiting = { waitedMs: number; since: number | null };

const waits = new WeakMap<FastifyRequest, Waiting>();

/** From now on the caller gets what it asked for by waiting; until the function is called, or the request is over. */
export function beginWaiting(request: FastifyRequest): () => void {
  const waiting = waits.get(request) ?? { waitedMs: 0, since: null };
  waiting.since = performance.now();
  waits.set(request, waiting);
  return () => {
    waiting.waitedMs = waitedMs(request);
    waiting.since = null;
  };
}

/** How long the request has waited on purpose: no part of how fast it was answered. */
export function waitedMs(request: FastifyRequest): number {
  const { waitedMs: before, since } = waits.get(request) ?? { waitedMs: 0, since: null };
  return since === null ? before : before + performance.now() - since;
}
