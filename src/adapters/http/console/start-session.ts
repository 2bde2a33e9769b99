import type { FastifyReply, FastifyRequest } from 'fastify';
import type { NewSession } from '../../../ports/console.ts';
import type { SessionDeps } from '../../../usecases/access/authenticate-session.ts';
import { openSession } from '../../../usecases/access/open-session.ts';
import { type CookieNames, readCookie, setCookie } from './cookies.ts';

export type ConsoleSessionDeps = SessionDeps & { readonly cookies: CookieNames };

export function sessionTokenOf(
  { headers }: FastifyRequest,
  { cookies }: Pick<ConsoleSessionDeps, 'cookies'>,
): string | null {
  return readCookie(headers.cookie, cookies.session);
}

/** Opens a session and sends its cookie. Returns the session's token. */
export async function startSession(
  request: FastifyRequest,
  reply: FastifyReply,
  own: ConsoleSessionDeps,
  session: NewSession,
): Promise<string> {
  const token = (await openSession(own, session, sessionTokenOf(request, own))).reveal();
  setCookie(reply, { name: own.cookies.session, value: token }, own.cookies);
  return token;
}
