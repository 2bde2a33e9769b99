import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { InvalidCredentials } from '../../../domain/caller.ts';
import { requireCsrfToken } from '../../../domain/console-session.ts';
import { Failure } from '../../../domain/failure.ts';
import type { ConsoleLinks, FoundSession, NewSession } from '../../../ports/console.ts';
import type { AsCaller } from '../../../ports/request-store.ts';
import {
  type IdentifyDeps,
  authenticateCaller,
  requireCustomer,
} from '../../../usecases/access/authenticate-caller.ts';
import { authenticateSession, requireFound } from '../../../usecases/access/authenticate-session.ts';
import { sessionOfKey, sessionOfLink } from '../../../usecases/access/open-session.ts';
import type { Api } from '../api.ts';
import { recordDeniedCalls } from '../authentication.ts';
import { acceptEmptyJsonBodies } from '../http-limits.ts';
import type { IdentityDeps } from '../identify.ts';
import { type Credential, type Guard, guardAgainstWrongKeys, keyIn } from '../wrong-key-limit.ts';
import { clearCookie } from './cookies.ts';
import { type SessionRecord, sessionRecord, sessionRecordSchema } from './session-record.ts';
import { type SignInDeps, addSignIn } from './sign-in.ts';
import { type ConsoleSessionDeps, sessionTokenOf, startSession } from './start-session.ts';
import { type StaticFiles, addStaticFiles } from './static-files.ts';

export type ConsoleDeps = ConsoleSessionDeps & {
  /** The public origin. */
  readonly url: string;
  readonly signIn: SignInDeps;
  readonly links: ConsoleLinks;
  readonly allowsApiKeys: boolean;
  readonly files: StaticFiles;
  /** The origin to which the console uploads files. */
  readonly storageOrigin: string | null;
};

type Deps = Omit<IdentityDeps, 'console'> & IdentifyDeps & { readonly asCaller: AsCaller };

const config = { operation: 'console' };

const linkBody = z.strictObject({ token: z.string().max(100) });
const apiKeyBody = z.strictObject({ api_key: z.string().max(200), user_token: z.string().max(8_192).optional() });

/** Adds the routes for the files of the console and for the sign-in. These routes are not part of the public API. */
export function addConsole(api: Api, deps: Deps, own: ConsoleDeps): void {
  addStaticFiles(api, own);
  api.register(async (auth: Api) => {
    recordDeniedCalls(auth, deps);
    acceptEmptyJsonBodies(auth);
    const guard = guardAgainstWrongKeys(deps.requestLimits);
    addSessionRoutes(auth, guard, own);
    addCredentialRoutes(auth, deps, guard, own);
    addSignIn(auth, own);
  });
}

function addSessionRoutes(api: Api, guard: Guard, own: ConsoleDeps): void {
  async function findGuarded(
    request: FastifyRequest,
    reply: FastifyReply,
    token: string,
  ): Promise<FoundSession | null> {
    try {
      const credential = { ...credentialOf(own, token), endsForGood: true };
      return await guard(request, reply, credential, () => requireFound(own, token));
    } catch (error) {
      if (error instanceof InvalidCredentials) return null;
      throw error;
    }
  }
  async function describe(request: FastifyRequest, reply: FastifyReply): Promise<SessionRecord> {
    const token = sessionTokenOf(request, own);
    const found = token === null ? null : await findGuarded(request, reply, token);
    if (token !== null && found) return sessionRecord(found, own.tokens.csrfTokenOf(token), signInOf(own));
    if (token !== null) clearCookie(reply, own.cookies.session, own.cookies);
    return { signed_in: false, sign_in: signInOf(own) };
  }
  const schema = { response: { 200: sessionRecordSchema } };
  api.get('/console/auth/session', { config, schema }, describe);
  // The user stays signed in.
  api.post('/console/auth/session', { config, schema }, async (request, reply) => {
    const token = sessionTokenOf(request, own);
    if (token !== null && (await findGuarded(request, reply, token))) {
      const given = request.headers['x-csrf-token']?.toString();
      requireCsrfToken(request.method, given, (text) => own.tokens.isCsrfTokenOf(text, token));
      await authenticateSession(own, token, true);
    }
    return describe(request, reply);
  });
  api.post('/console/auth/sign-out', { config }, async (request, reply) => {
    const token = sessionTokenOf(request, own);
    if (token !== null) {
      const given = request.headers['x-csrf-token']?.toString();
      requireCsrfToken(request.method, given, (text) => own.tokens.isCsrfTokenOf(text, token));
      await own.sessions.end(own.tokens.hash(token));
    }
    clearCookie(reply, own.cookies.session, own.cookies);
    return { redirect_to: '/console/sign-in' };
  });
}

/** Routes that exchange a secret for a session. Addresses that send invalid secrets are throttled. */
function addCredentialRoutes(api: Api, deps: Deps, guard: Guard, own: ConsoleDeps): void {
  const response = { 200: sessionRecordSchema };
  api.post('/console/auth/link', { config, schema: { body: linkBody, response } }, async (request, reply) => {
    const { token } = request.body;
    const session = await guard(request, reply, credentialOf(own, token), () => sessionOfLink(own, token));
    return exchange(request, reply, own, session);
  });
  api.post('/console/auth/api-key', { config, schema: { body: apiKeyBody, response } }, async (request, reply) => {
    if (!own.allowsApiKeys) throw new Failure('console_not_available', 'INLET_CONSOLE_API_KEY_SIGN_IN is not set.');
    const { api_key: key, user_token: userToken } = request.body;
    const caller = await guard(request, reply, keyIn(key), () => authenticateCaller(deps, `Bearer ${key}`));
    const holder =
      userToken === undefined
        ? null
        : await deps.asCaller({ partnerId: caller.partner.id, customerId: null }, () =>
            requireCustomer(deps, caller.partner, userToken),
          );
    return exchange(request, reply, own, sessionOfKey(caller, holder));
  });
}

function credentialOf({ tokens }: ConsoleDeps, token: string): Credential {
  return { text: token, isWellFormed: tokens.mayHaveIssued(token) };
}

async function exchange(
  request: FastifyRequest,
  reply: FastifyReply,
  own: ConsoleDeps,
  session: NewSession,
): Promise<SessionRecord> {
  const token = await startSession(request, reply, own, session);
  return sessionRecord(await requireFound(own, token), own.tokens.csrfTokenOf(token), signInOf(own));
}

function signInOf({ allowsApiKeys, signIn: { issuer } }: ConsoleDeps): SessionRecord['sign_in'] {
  return { oidc: issuer !== null, api_key: allowsApiKeys };
}
