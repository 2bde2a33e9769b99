import type { FastifyReply, FastifyRequest } from 'fastify';
import type { OwnChange } from '../../ports/own-access.ts';
import { callerOf } from './authentication.ts';
import { type IdempotencyDeps, idempotentRequestOf } from './idempotency.ts';

/** A change that the caller makes to the partner's own attributes, keys, or customers. */
export function ownChangeOf(deps: IdempotencyDeps, request: FastifyRequest, reply: FastifyReply): OwnChange {
  return { caller: callerOf(request), idempotency: idempotentRequestOf(deps, request, reply) };
}
