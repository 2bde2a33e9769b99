import type { FastifyRequest } from 'fastify';
import type { Caller } from '../../domain/caller.ts';
import type { Partner } from '../../domain/partner.ts';
import type { KeyIssuer } from '../../ports/key-issuer.ts';
import type { PartnerStore } from '../../ports/partner-store.ts';
import { authenticatePartner } from '../../usecases/authenticate-partner.ts';
import type { Api } from './server.ts';

const callers = new WeakMap<FastifyRequest, Caller>();

/** Every operation of the scope needs a key; it runs before the body is looked at. */
export function addAuthentication(api: Api, deps: { partners: PartnerStore; apiKeys: KeyIssuer }): void {
  api.addHook('onRequest', async (request) => {
    callers.set(request, await authenticatePartner(deps, request.headers.authorization));
  });
}

/** Undefined when the request was refused, or needs no key. */
export function findPartnerOf(request: FastifyRequest): Partner | undefined {
  return callers.get(request)?.partner;
}

export function callerOf(request: FastifyRequest): Caller {
  const caller = callers.get(request);
  if (!caller) throw new Error('the operation is registered outside of the authenticated scope');
  return caller;
}

export function partnerOf(request: FastifyRequest): Partner {
  return callerOf(request).partner;
}
