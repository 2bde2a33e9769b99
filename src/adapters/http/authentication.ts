import { type Operation, type RequiredScope, deprecatedPathOf, operations } from '@inlet/contract/operations';
import type { FastifyRequest, RouteOptions } from 'fastify';
import type { AudienceScope } from '../../domain/audience.ts';
import { type Caller, RefusedKey, requireScope } from '../../domain/caller.ts';
import type { RequestLimits } from '../../domain/limits.ts';
import type { Partner } from '../../domain/partner.ts';
import type { KeyIssuer } from '../../ports/crypto.ts';
import type { PartnerStore } from '../../ports/partner-store.ts';
import type { AsCaller, CallerScope } from '../../ports/request-store.ts';
import { type IdentifyDeps, authenticateCaller, identifyCustomer } from '../../usecases/access/authenticate-caller.ts';
import type { AccessRecorder } from '../../usecases/access/record-access.ts';
import { isDenied } from './problems.ts';
import { guardAgainstWrongKeys } from './wrong-key-limit.ts';
import { operationOf } from './request-log.ts';
import type { Api } from './api.ts';
import { noteCheck } from './while-allowed.ts';

type Deps = {
  readonly partners: PartnerStore;
  readonly apiKeys: KeyIssuer;
  readonly access: AccessRecorder;
  readonly requestLimits: RequestLimits;
};

const callers = new WeakMap<FastifyRequest, Caller>();
const outside = 'the operation is registered outside of the authenticated scope';

/** Every operation of the scope needs a key that is for it; it runs before the body is looked at. */
export function addAuthentication(api: Api, deps: Deps): void {
  stateRequiredScopes(api);
  const guard = guardAgainstWrongKeys(deps.requestLimits);
  const lookUp = ({ headers }: FastifyRequest): Promise<Caller> => authenticateCaller(deps, headers.authorization);
  api.addHook('onRequest', async (request, reply) => {
    callers.set(request, await guard(request, reply, () => lookUp(request)));
  });
  // After the limit of requests, which counts what is denied here too.
  api.addHook('preParsing', async (request) => {
    const { scope } = request.routeOptions.config;
    if (!scope) throw new Error(outside);
    requireScope(callerOf(request), scope);
    noteCheck(request, async () => requireScope(await lookUp(request), scope));
  });
  api.addHook('onError', async (request, _reply, error) => {
    if (!isDenied(error)) return;
    const holder = error instanceof RefusedKey ? error.holder : callers.get(request);
    deps.access.noteDenied({
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

/** Undefined when the request was refused, or needs no key. */
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

declare module 'fastify' {
  // oxlint-disable-next-line typescript/consistent-type-definitions -- only an interface can be added to
  export interface FastifyContextConfig {
    /** What a key must be for. */
    scope?: RequiredScope;
  }
}

const registry: readonly Operation[] = Object.values(operations);
const scopeByRoute = new Map(
  registry.flatMap(({ method, path, scope }) => [path, deprecatedPathOf(path)].map((at) => [`${method} ${at}`, scope])),
);

/**
 * Writes into the configuration of each route what its operation says in the registry. A route of which nobody says what
 * a key must be for stops the process at its start: forgotten is not the same as free.
 */
function stateRequiredScopes(api: Api): void {
  api.addHook('onRoute', (route) => {
    const scope = route.config?.scope ?? requiredScopeOf(route);
    if (!scope) throw new Error(`${String(route.method)} ${route.url} does not state the scope that it needs`);
    route.config = { ...route.config, scope };
  });
}

function requiredScopeOf({ method, url }: RouteOptions): RequiredScope | undefined {
  // Fastify adds HEAD to each GET.
  const [first = ''] = [method].flat();
  return scopeByRoute.get(`${first === 'HEAD' ? 'GET' : first} ${url}`);
}

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
