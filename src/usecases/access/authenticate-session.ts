import { InvalidCredentials } from '../../domain/caller.ts';
import { type ConsoleSession, type SessionTimes, isExtensionDue, sessionEnded } from '../../domain/console-session.ts';
import type { ConsoleSessions, FoundSession, TokenIssuer } from '../../ports/console.ts';

export type SessionDeps = {
  readonly sessions: ConsoleSessions;
  readonly tokens: TokenIssuer;
  readonly times: SessionTimes;
};

/**
 * Returns null if the session does not exist or has ended. Nothing is cached, so that a session ends in every process
 * immediately.
 */
async function findSession({ sessions, tokens }: SessionDeps, token: string): Promise<FoundSession | null> {
  return tokens.mayHaveIssued(token) ? sessions.find(tokens.hash(token)) : null;
}

/**
 * Identifies the console user by the token in the cookie. If the user has caused the request, postpones the end of the
 * session.
 */
export async function authenticateSession(
  deps: SessionDeps,
  token: string,
  isActivity: boolean,
): Promise<ConsoleSession> {
  const { session, idleExpiresAt } = await requireFound(deps, token);
  if (isActivity && isExtensionDue(idleExpiresAt, session.expiresAt, deps.times, new Date()))
    await deps.sessions.extend(deps.tokens.hash(token), deps.times);
  return session;
}

/** Identifies the user without postponing the end of the session. */
export async function requireSession(deps: SessionDeps, token: string): Promise<ConsoleSession> {
  return (await requireFound(deps, token)).session;
}

/** Returns the session with the time at which it ends without activity. */
export async function requireFound(deps: SessionDeps, token: string): Promise<FoundSession> {
  const found = await findSession(deps, token);
  if (!found) throw new InvalidCredentials(sessionEnded);
  return found;
}
