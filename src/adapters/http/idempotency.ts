import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { Failure } from '../../domain/failure.ts';
import { type IdempotentRequest, canonicalJson } from '../../domain/idempotency.ts';
import type { Fingerprint } from '../../ports/crypto.ts';

export const idempotencyKeyHeader = 'Idempotency-Key';

export const idempotencyKeySchema = z
  .string()
  .max(255)
  .regex(/^[\x21-\x7e]+$/);

export type IdempotencyDeps = { readonly fingerprint: Fingerprint };

/**
 * Returns null if the request has no `Idempotency-Key`. Two requests are equal if their operation, path, customer, and
 * validated body are equal. An omitted field equals its default. Call this function after validation.
 */
export function idempotentRequestOf(
  { fingerprint }: IdempotencyDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  customerId: number | null = null,
): IdempotentRequest | null {
  // Node joins repeated headers with a comma and a space, which makes the key invalid.
  const key = request.headers[idempotencyKeyHeader.toLowerCase()];
  if (key === undefined) return null;
  const { method, routeOptions, params, body } = request;
  const content = { method, route: routeOptions.url, params, customerId, body: body ?? {} };
  return {
    key: requireKey(key),
    fingerprints: fingerprint(canonicalJson(content)),
    onReplay: () => void reply.header('idempotent-replayed', 'true'),
  };
}

function requireKey(value: unknown): string {
  const { data: key } = idempotencyKeySchema.safeParse(value);
  if (key !== undefined) return key;
  throw new Failure('invalid_request', `The ${idempotencyKeyHeader} header is invalid.`, {
    fields: [
      {
        pointer: `/${idempotencyKeyHeader}`,
        parameter: idempotencyKeyHeader,
        detail: `${idempotencyKeyHeader} must have 1 to 255 visible ASCII characters and must be sent only once.`,
      },
    ],
  });
}
