import { InvalidCredentials, type KeyCaller } from '../../domain/caller.ts';
import { maxLinkSessionsPerSegment, maxSessionsPerSubject } from '../../domain/console-session.ts';
import type { Secret } from '../../domain/secret.ts';
import type { NewSession } from '../../ports/console.ts';
import type { UserTokenHolder } from './authenticate-caller.ts';
import type { SessionDeps } from './authenticate-session.ts';

/**
 * Opens a session with a new token, and ends the session that the browser had before. A token that someone planted in
 * the browser is therefore never used.
 */
export async function openSession(
  { sessions, tokens, times }: SessionDeps,
  session: NewSession,
  tokenBefore: string | null,
): Promise<Secret> {
  if (tokenBefore !== null) await sessions.end(tokens.hash(tokenBefore));
  const { token, hash } = tokens.issue();
  const atMost = session.role === 'link' ? maxLinkSessionsPerSegment : maxSessionsPerSubject;
  await sessions.open(hash, session, times, atMost);
  return token;
}

/** A session with the access of an API key and, optionally, of a user token. */
export function sessionOfKey({ partner, keyId }: KeyCaller, holder: UserTokenHolder | null): NewSession {
  const customer = holder?.customer;
  return {
    role: customer ? 'customer' : 'partner',
    subject: `key ${keyId}`,
    name: customer?.name ?? partner.name,
    partnerId: partner.id,
    customerId: customer?.id ?? null,
    apiKeyId: keyId,
    userTokenId: holder?.tokenId ?? null,
    target: null,
  };
}

/** Exchanges the token of a one-time link for the attributes of a session. */
export async function sessionOfLink({ sessions, tokens }: SessionDeps, token: string): Promise<NewSession> {
  const link = tokens.mayHaveIssued(token) ? await sessions.useLink(tokens.hash(token)) : null;
  if (!link)
    throw new InvalidCredentials(
      'The link is unknown, was already used, or has expired.',
      null,
      'console_link_invalid',
    );
  const { partner, customer, apiKeyId, userTokenId, target } = link;
  return {
    role: 'link',
    subject: `segment ${target.segmentId}`,
    name: customer?.name ?? partner.name,
    partnerId: partner.id,
    customerId: customer?.id ?? null,
    apiKeyId,
    userTokenId,
    target,
  };
}
