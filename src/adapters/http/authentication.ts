import type { FastifyRequest } from 'fastify';
import { RefusedKey, requireScope, type Caller } from '../../domain/caller.ts';
import type { Partner } from '../../domain/partner.ts';
import type { RequestLimits } from '../../domain/request-limits.ts';
import type { KeyIssuer } from '../../ports/key-issuer.ts';
import type { PartnerStore } from '../../ports/partner-store.ts';
import { authenticateCaller } from '../../usecases/authenticate-caller.ts';
import type { AccessRecorder } from '../../usecases/record-access.ts';
import { operationOf } from './operation-of.ts';
import { isDenied } from './problem.ts';
import { stateRequiredScopes } from './required-scopes.ts';
import type { Api } from './server.ts';
import { noteCheck } from './while-allowed.ts';
import { guardAgainstWrongKeys } from './wrong-key-limit.ts';

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
