import type { FastifyRequest } from 'fastify';
import type { AsCaller, CallerScope } from '../../ports/caller-scope.ts';
import { findPartnerOf } from './authentication.ts';
import type { Api } from './server.ts';

/**
 * What comes after these hooks is done as the caller. More than once: what reads the body, and what looks at the end of the
 * answer, are called by the socket, which knows of no caller.
 */
export function addCallerScope(
  api: Api,
  { asCaller }: { readonly asCaller: AsCaller },
  find: (request: FastifyRequest) => CallerScope | undefined,
): void {
  for (const moment of ['onRequest', 'preValidation', 'onResponse'] as const) {
    api.addHook(moment, (request: FastifyRequest, _reply: unknown, done: () => void) => {
      const scope = find(request);
      if (scope) asCaller(scope, done);
      else done();
    });
  }
}

/** The partner itself: for all that is not of a customer. */
export function findPartnerScopeOf(request: FastifyRequest): CallerScope | undefined {
  const partner = findPartnerOf(request);
  return partner && { partnerId: partner.id, customerId: null };
}
