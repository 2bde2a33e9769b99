import type { FastifyRequest } from 'fastify';
import type { AudienceScope } from '../../domain/audience.ts';
import { type Caller, InvalidApiKey, requireScope } from '../../domain/caller.ts';
import type { RequestLimits } from '../../domain/limits.ts';
import type { Partner } from '../../domain/partner.ts';
import type { KeyIssuer } from '../../ports/crypto.ts';
import type { PartnerStore } from '../../ports/partner-store.ts';
import type { AsCaller, CallerScope } from '../../ports/request-store.ts';
import { type IdentifyDeps, authenticateCaller, identifyCustomer } from '../../usecases/access/authenticate-caller.ts';
import type { AccessRecorder } from '../../usecases/access/record-access.ts';
import { addAccessCheck } from './access-recheck.ts';
import type { Api } from './api.ts';
import { isDenied } from './problems.ts';
import { operationOf } from './request-log.ts';
import { guardAgainstWrongKeys } from './wrong-key-limit.ts';

type Deps = {
  readonly partners: PartnerStore;
  readonly apiKeys: KeyIssuer;
  readonly access: AccessRecorder;
  readonly requestLimits: RequestLimits;
};

const callers = new WeakMap<FastifyRequest, Caller>();
const outside = 'the route is registered outside of the authenticated scope';

/** Requires an API key with the route's scope. Runs before the body is parsed. */
export function addAuthentication(api: Api, deps: Deps): void {
  requireDeclaredScopes(api);
  const guard = guardAgainstWrongKeys(deps.requestLimits);
  const lookUp = ({ headers }: FastifyRequest): Promise<Caller> => authenticateCaller(deps, headers.authorization);
  api.addHook('onRequest', async (request, reply) => {
    callers.set(request, await guard(request, reply, () => lookUp(request)));
  });
  // Runs after the rate limit, which therefore also counts requests that are denied here.
  api.addHook('preParsing', async (request) => {
    const { scope } = request.routeOptions.config;
    if (!scope) throw new Error(outside);
    requireScope(callerOf(request), scope);
    addAccessCheck(request, async () => requireScope(await lookUp(request), scope));
  });
  api.addHook('onError', async (request, _reply, error) => {
    if (!isDenied(error)) return;
    const holder = error instanceof InvalidApiKey ? error.holder : callers.get(request);
    deps.access.recordDenied({
      at: new Date(),
      partnerId: holder?.partner.id ?? null,
      keyId: holder?.keyId ?? null,
      operation: operationOf(request),
      code: error.code,
      requestId: request.id,
      address: request.ip,
    });
  });
}

/** Returns undefined if the request was denied or needs no API key. */
export function findPartnerOf(request: FastifyRequest): Partner | undefined {
  return callers.get(request)?.partner;
}

export function callerOf(request: FastifyRequest): Caller {
  const caller = callers.get(request);
  if (!caller) throw new Error(outside);
  return caller;
}

export function partnerOf(request: FastifyRequest): Partner {
  return callerOf(request).partner;
}

/** Throws at startup if a route declares no scope, so that a forgotten scope never makes a route public. */
function requireDeclaredScopes(api: Api): void {
  api.addHook('onRoute', ({ method, url, config }) => {
    if (!config?.scope) throw new Error(`${String(method)} ${url} does not declare its scope`);
  });
}

/**
 * Runs everything after these hooks in the caller's scope. Three hooks are necessary, because the socket's callbacks
 * for the body and for the end of the response start outside that scope.
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

/** Returns the scope of the partner itself, for data that does not belong to a customer. */
export function findPartnerScopeOf(request: FastifyRequest): CallerScope | undefined {
  const partner = findPartnerOf(request);
  return partner && { partnerId: partner.id, customerId: null };
}

const scopes = new WeakMap<FastifyRequest, AudienceScope>();

/** Call after `addAuthentication`, because a user token is valid only with its partner's API key. */
export function addCustomerScope(api: Api, deps: IdentifyDeps): void {
  api.addHook('onRequest', async (request) => {
    // Node joins repeated headers into one value, which is not a valid token.
    const token = request.headers['x-user-token']?.toString();
    const identify = (): Promise<AudienceScope> => identifyCustomer(deps, partnerOf(request), token);
    scopes.set(request, await identify());
    if (token !== undefined) addAccessCheck(request, identify);
  });
}

/** Returns undefined if the request was denied. */
export function findScopeOf(request: FastifyRequest): AudienceScope | undefined {
  return scopes.get(request);
}

export function scopeOf(request: FastifyRequest): AudienceScope {
  const scope = findScopeOf(request);
  if (!scope) throw new Error('the route is registered outside of the customer scope');
  return scope;
}
