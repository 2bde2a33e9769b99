import { effect, signal } from '@preact/signals';
import { csrfToken, rejectedCalls } from './api.ts';
import { hasExpired } from './expiry.ts';
import { watchInput } from './idle.ts';
import { visibleText } from './components/visible-text.ts';
import { rememberLink } from './link-memory.ts';

export type Role = 'partner' | 'customer' | 'link' | 'operator';

type SignInMethods = { readonly oidc: boolean; readonly api_key: boolean };

export type SignedIn = {
  readonly signed_in: true;
  readonly role: Role;
  readonly name: string;
  readonly partner: string | null;
  readonly customer: string | null;
  /** The only folder from which a customer can load files. Null for other roles. */
  readonly upload_folder: string | null;
  readonly scopes: readonly string[];
  /** The only segment that a one-time link opens. */
  readonly segment_id: number | null;
  readonly audience_id: number | null;
  readonly csrf_token: string;
  /** When the session ends at the latest. */
  readonly expires_at: string;
  /** When it ends if the user stays inactive. */
  readonly idle_expires_at: string;
  readonly sign_in: SignInMethods;
};

export type Session = SignedIn | { readonly signed_in: false; readonly sign_in: SignInMethods };

/** Null if the API could not be reached. */
export const session = signal<Session | null>(null);

export function signedIn(): SignedIn | null {
  const current = session.value;
  return current?.signed_in ? current : null;
}

/** Another user who has signed in through another tab. This tab then shows none of the earlier user's data. */
export const nextUser = signal<SignedIn | null>(null);

/** Whether the reader of a one-time link has ended its session. */
export const hasClosedReport = signal(false);

export async function loadSession(): Promise<void> {
  const found = await fetchSession();
  session.value = found && accept(found);
}

async function fetchSession(): Promise<Session | null> {
  const response = await fetch('/console/auth/session').catch(() => null);
  return response?.ok ? readSession(response) : null;
}

async function readSession(response: Response): Promise<Session> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the API conforms to its contract
  const found = (await response.json()) as Session;
  if (found.signed_in) noteEnd(found, response);
  return found;
}

export type SessionEnd = {
  /** The time as returned by the API. */
  readonly time: string;
  /** The time by this browser's clock, in milliseconds. */
  readonly at: number;
  /** When this became known. */
  readonly notedAt: number;
  /** Whether the user can no longer postpone the end. */
  readonly isFinal: boolean;
};

/** When the session ends. */
export const sessionEnd = signal<SessionEnd | null>(null);

function noteEnd({ expires_at, idle_expires_at: time }: SignedIn, { headers }: Response): void {
  if (sessionEnd.peek()?.time === time) return;
  const notedAt = Date.now();
  const ahead = notedAt - (Date.parse(headers.get('date') ?? '') || notedAt);
  sessionEnd.value = { time, at: Date.parse(time) + ahead, notedAt, isFinal: time >= expires_at };
}

/** Postpones the end of the session at the user's request. Returns whether that worked. */
export async function staySignedIn(): Promise<boolean> {
  const response = await post('/console/auth/session', {});
  if (!response?.ok) return false;
  const found = await readSession(response);
  if (!found.signed_in) hasExpired.value = true;
  return true;
}

/** All tabs share the cookie, so another tab may have ended the session or started another one. */
export async function checkSession(): Promise<void> {
  const own = signedIn();
  const found = own && (await fetchSession());
  if (!found) return;
  if (!found.signed_in) hasExpired.value = true;
  else if (found.csrf_token === csrfToken.value) return;
  else if (isSameUser(own, found)) session.value = accept(found);
  else nextUser.value = found;
}

function isSameUser(one: SignedIn, other: SignedIn): boolean {
  const keys = ['role', 'name', 'partner', 'customer', 'segment_id'] as const;
  return keys.every((key) => one[key] === other[key]) && String(one.scopes) === String(other.scopes);
}

/** Call this function once. */
export function watchSession(): void {
  const check = (): void => {
    if (document.visibilityState === 'visible') void checkSession();
  };
  watchInput();
  addEventListener('focus', check);
  // The browser restores the page as it was, possibly before a sign-out.
  addEventListener('pageshow', ({ persisted }) => persisted && location.reload());
  document.addEventListener('visibilitychange', check);
  effect(() => {
    if (rejectedCalls.value > 0) void checkSession();
  });
}

/** Returns the code of the problem, or null. */
export async function signInWithKey(apiKey: string, userToken: string): Promise<string | null> {
  return postForSession('/console/auth/api-key', {
    api_key: apiKey,
    ...(userToken === '' ? {} : { user_token: userToken }),
  });
}

/** Exchanges the token of a one-time link for a session. Returns the code of the problem, or null. */
export async function signInWithLink(token: string): Promise<string | null> {
  return postForSession('/console/auth/link', { token });
}

/** Ends the session, and leaves the page. Returns whether that worked. */
export async function signOut(): Promise<boolean> {
  const response = await post('/console/auth/sign-out', {});
  if (!response?.ok) {
    // Another user may have signed in, and this tab must not sign that user out.
    if (response?.status === 403) void checkSession();
    return false;
  }
  if (signedIn()?.role === 'link') {
    hasClosedReport.value = true;
    return true;
  }
  const body: unknown = await response.json().catch(() => null);
  const target = typeof body === 'object' && body !== null && 'redirect_to' in body ? String(body.redirect_to) : '';
  location.assign(target === '' ? '/console/sign-in' : target);
  return true;
}

async function postForSession(path: string, body: unknown): Promise<string | null> {
  const response = await post(path, body);
  if (!response) return 'network_failed';
  if (response.ok) {
    session.value = accept(await readSession(response));
    return null;
  }
  const answer: unknown = await response.json().catch(() => null);
  return typeof answer === 'object' && answer !== null && 'code' in answer ? String(answer.code) : 'unavailable';
}

function post(path: string, body: unknown): Promise<Response | null> {
  const headers = { 'content-type': 'application/json', 'x-csrf-token': csrfToken.value };
  return fetch(path, { method: 'POST', headers, body: JSON.stringify(body) }).catch(() => null);
}

function accept(given: Session): Session {
  if (given.signed_in) {
    csrfToken.value = given.csrf_token;
    rememberLink(given.role === 'link' ? given.partner : null);
  }
  hasExpired.value = false;
  hasClosedReport.value = false;
  return given;
}

/** The first page after sign-in. */
export function homeOf({ role, segment_id }: SignedIn): string {
  if (role === 'operator') return '/console/operator/lanes';
  if (role === 'link') return `/console/segments/${segment_id ?? 0}/composition`;
  return role === 'customer' ? '/console/audiences' : '/console/imports';
}

/** The current user, for example `Dana Fox · Retail Co`. */
export function describeUser({ role, name, partner, customer }: SignedIn): string {
  const access = role === 'link' ? 'a link to a report' : name;
  const parts = [access, customer ?? partner].filter((part, n, all) => part && all.indexOf(part) === n);
  return visibleText(parts.join(' · '));
}
