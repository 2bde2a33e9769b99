import type { FastifyRequest } from 'fastify';
import type { AudienceScope } from '../../domain/audience.ts';
import { identifyCustomer, type IdentifyDeps } from '../../usecases/identify-customer.ts';
import { partnerOf } from './authentication.ts';
import type { Api } from './server.ts';
import { noteCheck } from './while-allowed.ts';

const scopes = new WeakMap<FastifyRequest, AudienceScope>();

/** Goes into the authenticated scope, after `addAuthentication`: a user token counts only beside its partner's key. */
export function addCustomerScope(api: Api, deps: IdentifyDeps): void {
  api.addHook('onRequest', async (request) => {
    // Node joins a header that was sent twice into one text, which is then no token.
    const token = request.headers['x-user-token']?.toString();
    const identify = (): Promise<AudienceScope> => identifyCustomer(deps, partnerOf(request), token);
    scopes.set(request, await identify());
    if (token !== undefined) noteCheck(request, identify);
  });
}

/** Undefined when the request was refused. */
export function findScopeOf(request: FastifyRequest): AudienceScope | undefined {
  return scopes.get(request);
}

export function scopeOf(request: FastifyRequest): AudienceScope {
  const scope = findScopeOf(request);
  if (!scope) throw new Error('the operation is registered outside of the scope of customers');
  return scope;
}
