import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { AudienceScope } from '../../domain/audience.ts';
import { type DeniedCall, requesterOf } from '../../domain/audit.ts';
import { type Caller, InvalidCredentials, type RequiredScope, requireScope } from '../../domain/caller.ts';
import { type CalledOperation, requireAllowedOperation, toCaller } from '../../domain/console-session.ts';
import { Failure } from '../../domain/failure.ts';
import { actorOfCaller } from '../../domain/own-access.ts';
import type { Partner } from '../../domain/partner.ts';
import type { AsCaller, CallerScope } from '../../ports/request-store.ts';
import {
  type IdentifiedCustomer,
  type IdentifyDeps,
  identifyCustomer,
} from '../../usecases/access/authenticate-caller.ts';
import { addAccessCheck } from './access-recheck.ts';
import type { Api } from './api.ts';
import { type Identity, type IdentityDeps, identification } from './identify.ts';
import { isDenied } from './problems.ts';
import { operationOf } from './request-log.ts';

const callers = new WeakMap<FastifyRequest, Caller>();
const identities = new WeakMap<FastifyRequest, Identity>();
const outside = 'the route is registered outside of the authenticated scope';

/** Requires an API key or a session with the route's scope. Runs before the body is parsed. */
export function addAuthentication(api: Api, deps: IdentityDeps): void {
  requireDeclaredScopes(api);
  recordDeniedCalls(api, deps);
  const { identify, identifyAgain, requireOwnRequest } = identification(deps);
  api.addHook('onRequest', async (request, reply) => {
    const identity = await identify(request, reply);
    identities.set(request, identity);
    callers.set(request, toCallerOf(identity));
  });
  // Runs after the rate limit, which therefore also counts requests that are denied here.
  api.addHook('preParsing', async (request) => {
    const requireAccess = (caller: Caller): void => {
      requireScope(caller, requiredScopeOf(request));
      if (caller.session) requireAllowedOperation(caller.session, calledOperation(request));
    };
    // Runs first, so that a tab that still shows the previous user is told so before it learns what the new user can
    // do.
    requireOwnRequest(request);
    requireAccess(callerOf(request));
    addAccessCheck(request, async () => requireAccess(toCallerOf(await identifyAgain(request))));
  });
}

/** Requires the session of an operator. An API key or another session is denied. */
export function addOperatorAuthentication(api: Api, deps: IdentityDeps): void {
  requireDeclaredScopes(api);
  recordDeniedCalls(api, deps);
  const { identify, identifyAgain, requireOwnRequest } = identification(deps);
  api.addHook('onRequest', async (request, reply) => {
    const identity = await identify(request, reply);
    identities.set(request, identity);
    requireOwnRequest(request);
    requireOperator(identity);
    addAccessCheck(request, async () => requireOperator(await identifyAgain(request)));
  });
}

function requireOperator(identity: Identity): void {
  if ('session' in identity && identity.session.role === 'operator') return;
  throw new Failure('scope_missing', 'Only an operator who is signed in to the console has the scope "operator".');
}

function toCallerOf(identity: Identity): Caller {
  return 'caller' in identity ? identity.caller : toCaller(identity.session);
}

function requiredScopeOf({ routeOptions }: FastifyRequest): RequiredScope {
  const { scope } = routeOptions.config;
  if (!scope) throw new Error(outside);
  return scope;
}

const parameters = z.record(z.string(), z.unknown());

function calledOperation(request: FastifyRequest): CalledOperation {
  return {
    id: operationOf(request),
    params: parameters.parse(request.params),
    query: parameters.parse(request.query),
  };
}

/** Adds calls that are denied because of their credentials to the audit log. */
export function recordDeniedCalls(api: Api, { access }: Pick<IdentityDeps, 'access'>): void {
  api.addHook('onError', async (request, _reply, error) => {
    if (!isDenied(error)) return;
    access.recordDenied({
      at: new Date(),
      ...holderOf(error instanceof InvalidCredentials ? error.holder : identities.get(request)),
      operation: operationOf(request),
      code: error.code,
      requestId: request.id,
      address: request.ip,
    });
  });
}

type Holder = Pick<DeniedCall, 'partnerId' | 'keyId' | 'sessionId'>;

function holderOf(known: Identity | InvalidCredentials['holder'] | undefined): Holder {
  if (!known) return { partnerId: null, keyId: null, sessionId: null };
  if ('session' in known) {
    const { session } = known;
    return { partnerId: session.role === 'operator' ? null : session.partner.id, keyId: null, sessionId: session.id };
  }
  const { partner, keyId } = 'caller' in known ? known.caller : known;
  return { partnerId: partner.id, keyId, sessionId: null };
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
  return partner && { partnerId: partner.id, customerId: null, caller: namesOf(callerOf(request)) };
}

function namesOf(caller: Caller): NonNullable<CallerScope['caller']> {
  return { actor: actorOfCaller(caller), requester: requesterOf(caller) };
}

const customers = new WeakMap<FastifyRequest, IdentifiedCustomer>();

/**
 * Limits the request to the customer of the session or of the user token. Call after `addAuthentication`, because a user
 * token is valid only with its partner's API key.
 */
export function addCustomerScope(api: Api, deps: IdentifyDeps): void {
  api.addHook('onRequest', async (request) => {
    const { session } = callerOf(request);
    if (session) {
      const scope = { partnerId: session.partner.id, customerId: session.customer?.id ?? null };
      customers.set(request, { scope, userTokenId: null });
      return;
    }
    // Node joins repeated headers into one value, which is not a valid token.
    const token = request.headers['x-user-token']?.toString();
    const identify = (): Promise<IdentifiedCustomer> => identifyCustomer(deps, partnerOf(request), token);
    customers.set(request, await identify());
    if (token !== undefined) addAccessCheck(request, identify);
  });
}

/** Returns undefined if the request was denied. */
function findScopeOf(request: FastifyRequest): AudienceScope | undefined {
  return customers.get(request)?.scope;
}

/** Like `findPartnerScopeOf`, for data that can belong to a customer. */
export function findCustomerScopeOf(request: FastifyRequest): CallerScope | undefined {
  const scope = findScopeOf(request);
  return scope && { ...scope, caller: namesOf(callerOf(request)) };
}

export function scopeOf(request: FastifyRequest): AudienceScope {
  const scope = findScopeOf(request);
  if (!scope) throw new Error('the route is registered outside of the customer scope');
  return scope;
}

/** Returns the ID of the user token, or null if there is none or an OpenID Connect issuer issued it. */
export function userTokenIdOf(request: FastifyRequest): number | null {
  return customers.get(request)?.userTokenId ?? null;
}
