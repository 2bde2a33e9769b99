import type { FastifyRequest } from 'fastify';
import type { Partner } from '../../domain/partner.ts';
import type { KeyIssuer } from '../../ports/key-issuer.ts';
import type { PartnerStore } from '../../ports/partner-store.ts';
import { authenticatePartner } from '../../usecases/authenticate-partner.ts';
import type { Api } from './server.ts';

const partners = new WeakMap<FastifyRequest, Partner>();

/** Every operation of the scope needs a key; it runs before the body is looked at. */
export function addAuthentication(api: Api, deps: { partners: PartnerStore; apiKeys: KeyIssuer }): void {
  api.addHook('onRequest', async (request) => {
    partners.set(request, await authenticatePartner(deps, request.headers.authorization));
  });
}

/** Undefined when the request was refused, or needs no key. */
export function findPartnerOf(request: FastifyRequest): Partner | undefined {
  return partners.get(request);
}

export function partnerOf(request: FastifyRequest): Partner {
  const partner = findPartnerOf(request);
  if (!partner) throw new Error('the operation is registered outside of the authenticated scope');
  return partner;
}
