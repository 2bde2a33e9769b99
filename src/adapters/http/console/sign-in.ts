import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { toReturnPath } from '../../../domain/console-address.ts';
import { type ClaimNames, type SignInError, signInSeconds } from '../../../domain/console-sign-in.ts';
import { Failure } from '../../../domain/failure.ts';
import type { SignInIssuer } from '../../../ports/console.ts';
import type { Sealer } from '../../../ports/crypto.ts';
import { sessionOfUser } from '../../../usecases/access/open-user-session.ts';
import type { Api } from '../api.ts';
import { type ConsoleSessionDeps, startSession } from './start-session.ts';
import { clearCookie, readCookie, setCookie } from './cookies.ts';

export type SignInDeps = {
  /** Null if users cannot sign in at an issuer. */
  readonly issuer: SignInIssuer | null;
  readonly claimNames: ClaimNames;
  readonly sealer: Sealer;
};

type Own = ConsoleSessionDeps & { readonly signIn: SignInDeps };

const config = { operation: 'console' };
/** A HEAD request would start or finish a sign-in. */
const exposeHeadRoute = false;
const queryOfStart = z.object({ return_to: z.string().optional().catch(undefined) });

const sealedState = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  returnPath: z.string(),
  expiresAt: z.number(),
});

/** Adds the two routes that a browser navigates to. They answer with redirects, because a person sees the result. */
export function addSignIn(api: Api, own: Own): void {
  const { issuer, sealer } = own.signIn;
  api.get(
    '/console/auth/sign-in',
    { config, exposeHeadRoute, schema: { querystring: queryOfStart } },
    async (request, reply) => {
      if (!issuer) return redirectToError(reply, 'sign_in_not_available');
      try {
        const { url, state } = await issuer.begin();
        const returnPath = toReturnPath(request.query.return_to);
        const sealed = seal(sealer, { ...state, returnPath, expiresAt: Date.now() + signInSeconds * 1000 });
        setCookie(reply, { name: own.cookies.signIn, value: sealed, maxAgeSeconds: signInSeconds }, own.cookies);
        return await reply.redirect(url);
      } catch (error) {
        if (error instanceof Failure && error.code === 'issuer_away')
          return redirectToError(reply, 'issuer_unavailable');
        throw error;
      }
    },
  );
  api.get('/console/auth/callback', { config, exposeHeadRoute }, async (request, reply) => {
    if (!issuer) return redirectToError(reply, 'sign_in_not_available');
    const known = unseal(sealer, readCookie(request.headers.cookie, own.cookies.signIn));
    if (!known) return redirectToError(reply, 'sign_in_expired');
    const claims = await issuer.finish(queryOf(request), known);
    if (isFailure(claims)) return finish(reply, own, errorPath(claims.failure));
    const session = await sessionOfUser(own, claims, own.signIn.claimNames);
    if ('error' in session) return finish(reply, own, errorPath(session.error));
    await startSession(request, reply, own, session);
    return finish(reply, own, known.returnPath);
  });
}

function isFailure(claims: object): claims is { readonly failure: SignInError } {
  return Object.hasOwn(claims, 'failure');
}

/** The state of a sign-in can be used only once. */
function finish(reply: FastifyReply, { cookies }: Own, path: string): FastifyReply {
  clearCookie(reply, cookies.signIn, cookies);
  return reply.redirect(path);
}

function errorPath(error: SignInError): string {
  return `/console/sign-in?error=${error}`;
}

function redirectToError(reply: FastifyReply, error: SignInError): FastifyReply {
  return reply.redirect(errorPath(error));
}

function queryOf({ url }: FastifyRequest): string {
  return url.split('?').slice(1).join('?');
}

type SealedState = z.infer<typeof sealedState>;

const sealingContext = 'console sign-in';

function seal(sealer: Sealer, state: SealedState): string {
  const { keyId, bytes } = sealer.seal(JSON.stringify(state), sealingContext);
  return `${keyId}.${Buffer.from(bytes).toString('base64url')}`;
}

/** Returns null if the cookie is missing, was changed, or has expired. */
function unseal(sealer: Sealer, cookie: string | null): SealedState | null {
  const [keyId = '', text = ''] = cookie?.split('.') ?? [];
  if (text === '') return null;
  try {
    const opened = sealer.open({ keyId, bytes: Buffer.from(text, 'base64url') }, sealingContext);
    const state = sealedState.parse(JSON.parse(opened));
    return state.expiresAt > Date.now() ? state : null;
  } catch {
    return null;
  }
}
