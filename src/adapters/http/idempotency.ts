import { idempotencyKeyHeader, idempotencyKeySchema } from '@inlet/contract/idempotency';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Failure } from '../../domain/failure.ts';
import { type IdempotentRequest, canonicalJson } from '../../domain/idempotency.ts';
import type { Fingerprint } from '../../ports/crypto.ts';

export type OnceDeps = { readonly fingerprint: Fingerprint };

/**
 * Null when the request has no `Idempotency-Key`. Two requests are the same when operation, path, customer and the body
 * are, as it was understood: a field that was left out is its default. To be called when the body has been checked.
 */
export function idempotentRequestOf(
  { fingerprint }: OnceDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  customerId: number | null = null,
): IdempotentRequest | null {
  // Node joins a header that was sent twice with a comma and a space, which is then no key.
  const key = request.headers[idempotencyKeyHeader.toLowerCase()];
  if (key === undefined) return null;
  const { method, routeOptions, params, body } = request;
  const asked = { method, route: routeOptions.url, params, customerId, body: body ?? {} };
  return {
    key: requireKey(key),
    fingerprints: fingerprint(canonicalJson(asked)),
    noteReplay: () => void reply.header('idempotent-replayed', 'true'),
  };
}

function requireKey(given: unknown): string {
  const { data: key, error } = idempotencyKeySchema.safeParse(given);
  if (key !== undefined) return key;
  const detail = error?.issues[0]?.message ?? 'is not valid';
  throw new Failure('invalid_request', `The header ${idempotencyKeyHeader} is not valid.`, {
    fields: [{ pointer: `/${idempotencyKeyHeader}`, detail }],
  });
}
