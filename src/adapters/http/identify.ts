import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../../domain/caller.ts';
import {
  type ConsoleSession,
  isUserActivity,
  requireCsrfToken,
  requireOwnOrigin,
} from '../../domain/console-session.ts';
import { Failure } from '../../domain/failure.ts';
import type { RequestLimits } from '../../domain/limits.ts';
import type { KeyIssuer } from '../../ports/crypto.ts';
import type { PartnerStore } from '../../ports/partner-store.ts';
import { authenticateCaller } from '../../usecases/access/authenticate-caller.ts';
import { type SessionDeps, authenticateSession, requireSession } from '../../usecases/access/authenticate-session.ts';
import type { AccessRecorder } from '../../usecases/access/record-access.ts';
import { type CookieNames, readCookie } from './console/cookies.ts';
import { guardAgainstWrongKeys, keyIn } from './wrong-key-limit.ts';

export type IdentityDeps = {
  readonly partners: PartnerStore;
  readonly apiKeys: KeyIssuer;
  readonly access: AccessRecorder;
  readonly requestLimits: RequestLimits;
  /** Null if there is no console. Cookies are then ignored. */
  readonly console: (SessionDeps & { readonly cookies: CookieNames }) | null;
};

/** Who sent a request: the holder of an API key, or a console user. */
export type Identity = { readonly caller: Caller } | { readonly session: ConsoleSession };

export type Identification = {
  /** Identifies the sender. Throttles addresses that send invalid credentials. */
  readonly identify: (request: FastifyRequest, reply: FastifyReply) => Promise<Identity>;
  /** Identifies the sender of a long request again. */
  readonly identifyAgain: (request: FastifyRequest) => Promise<Identity>;
  /**
   * Rejects a request with a cookie if another site may have started the request, or if the request names a customer
   * itself.
   */
  readonly requireOwnRequest: (request: FastifyRequest) => void;
};

/** An API key takes precedence over the cookie of a session. */
export function identification(deps: IdentityDeps): Identification {
  const guard = guardAgainstWrongKeys(deps.requestLimits);
  const { console: own } = deps;
  const cookieOf = ({ headers }: FastifyRequest): string | null =>
    own && headers.authorization === undefined ? readCookie(headers.cookie, own.cookies.session) : null;

  async function byKey({ headers }: FastifyRequest): Promise<Identity> {
    return { caller: await authenticateCaller(deps, headers.authorization) };
  }

  return {
    identify: async (request, reply) => {
      const { authorization } = request.headers;
      const token = cookieOf(request);
      if (own && token !== null) {
        const credential = { text: token, isWellFormed: own.tokens.mayHaveIssued(token), endsForGood: true };
        return {
          session: await guard(request, reply, credential, () =>
            authenticateSession(own, token, isUserActivity(request.headers)),
          ),
        };
      }
      if (authorization === undefined) return byKey(request);
      return guard(request, reply, keyIn(authorization), () => byKey(request));
    },
    identifyAgain: async (request) => {
      const token = cookieOf(request);
      return own && token !== null ? { session: await requireSession(own, token) } : byKey(request);
    },
    requireOwnRequest: (request) => {
      const token = cookieOf(request);
      if (!own || token === null) return;
      requireOwnOrigin(request.headers['sec-fetch-site']?.toString());
      if (request.headers['x-user-token'] !== undefined) throw userTokenWithCookie();
      const given = request.headers['x-csrf-token']?.toString();
      requireCsrfToken(request.method, given, (text) => own.tokens.isCsrfTokenOf(text, token));
    },
  };
}

function userTokenWithCookie(): Failure {
  const detail = 'The session names the customer, so a user token is not allowed.';
  return new Failure('invalid_request', 'The request is invalid; see errors.', {
    fields: [{ pointer: '/x-user-token', parameter: 'x-user-token', detail }],
  });
}
