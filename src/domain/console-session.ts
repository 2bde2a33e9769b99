import { type Caller, type LinkTarget, type PartnerSession, type Scope, scopes } from './caller.ts';
import { Failure } from './failure.ts';

// Rules for console sessions. A browser authenticates with a cookie instead of an API key.

export const consoleRoles = ['partner', 'customer', 'link', 'operator'] as const;

export type ConsoleRole = (typeof consoleRoles)[number];

type OperatorSession = {
  readonly id: number;
  readonly name: string;
  readonly expiresAt: Date;
  readonly role: 'operator';
};

export type ConsoleSession = PartnerSession | OperatorSession;

/** Why a session's token is rejected. */
export const sessionEnded = 'The session has ended. Sign in again.';

const scopesOfRole: Readonly<Record<PartnerSession['role'], readonly Scope[]>> = {
  partner: scopes,
  customer: ['audience:read', 'audience:write'],
  link: ['audience:read'],
};

/** Returns the scopes that both the role and the API key have. The session was created from this key. */
export function scopesOfSession(role: PartnerSession['role'], keyScopes: readonly Scope[]): readonly Scope[] {
  return scopesOfRole[role].filter((scope) => keyScopes.includes(scope));
}

/** Throws for an operator, because operators have no access to the operations of partners. */
export function toCaller(session: ConsoleSession): Caller {
  if (session.role === 'operator')
    throw new Failure('scope_missing', 'An operator has no access to the operations of partners.');
  return { partner: session.partner, keyId: null, scopes: session.scopes, session };
}

/** An operation that a session calls, with its path and query parameters. */
export type CalledOperation = {
  readonly id: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
};

const operationsOfAudience: ReadonlySet<string> = new Set(['getAudience', 'listAudienceFiles', 'followAudience']);

/** Whether a session from a one-time link may call the operation. Every operation that is not listed is denied. */
export function isAllowedForLink({ id, params, query }: CalledOperation, target: LinkTarget): boolean {
  if (id === 'getLimits') return true;
  if (operationsOfAudience.has(id)) return params['audience_id'] === String(target.audienceId);
  // With a baseline, the report would also describe another audience.
  if (id === 'getComposition')
    return (
      params['default_warehouse_segment_id'] === String(target.segmentId) &&
      !Object.hasOwn(query, 'baseline_segment_id')
    );
  return false;
}

/** Throws if the session is from a one-time link that does not allow the operation. */
export function requireAllowedOperation(session: PartnerSession, operation: CalledOperation): void {
  if (session.role !== 'link' || isAllowedForLink(operation, session.target)) return;
  throw new Failure('scope_missing', 'The link gives access only to the report of one audience.');
}

/** A request with one of these methods changes nothing. */
const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/**
 * Browsers send the cookie with requests that other sites start, so a request that changes data needs a token. A wrong
 * token is rejected with every method. It means that the browser has signed in again in another tab, and that this tab
 * still shows the earlier user.
 */
export function requireCsrfToken(method: string, given: string | undefined, isValid: (token: string) => boolean): void {
  if (given === undefined ? safeMethods.has(method) : isValid(given)) return;
  throw new Failure(
    'csrf_token_invalid',
    'Send the csrf_token of GET /console/auth/session as the header "x-csrf-token".',
  );
}

/**
 * Browsers name the site that started a request in `Sec-Fetch-Site`. Even a GET must come from the console itself, because
 * reading a new report spends the privacy budget. Old browsers and programs send no such header.
 */
export function requireOwnOrigin(site: string | undefined): void {
  if (site !== 'cross-site' && site !== 'same-site') return;
  throw new Failure('csrf_token_invalid', 'Another site started the request. Open the console instead.');
}

/** Maximum number of sessions per subject. A new session replaces the oldest one. */
export const maxSessionsPerSubject = 20;
/** Many users of one customer can open the same report. */
export const maxLinkSessionsPerSegment = 1_000;

export const linkSeconds = 60;
/** Maximum number of links per partner that are neither used nor expired. */
export const maxOpenLinks = 1_000;

/**
 * Whether the user has caused a request. The console marks the requests that it sends after the user has been idle for
 * a while, for example to refresh a page. Event streams do not count, because browsers reopen them automatically.
 */
export function isUserActivity(headers: Readonly<Record<string, string | readonly string[] | undefined>>): boolean {
  return headers[backgroundHeader] === undefined && !String(headers['accept']).includes('text/event-stream');
}

/** A request with this header does not extend the session. */
const backgroundHeader = 'x-inlet-background';

/** How long sessions last. */
export type SessionTimes = { readonly idleSeconds: number; readonly absoluteSeconds: number };

/**
 * Whether a session was last extended long enough ago to extend it again. Extending it with every request would cause a
 * write for each of them.
 */
export function isExtensionDue(
  idleExpiresAt: Date,
  expiresAt: Date,
  { idleSeconds }: SessionTimes,
  now: Date,
): boolean {
  const latest = Math.min(expiresAt.getTime(), now.getTime() + idleSeconds * 1000);
  return latest - idleExpiresAt.getTime() > idleSeconds * 100;
}
