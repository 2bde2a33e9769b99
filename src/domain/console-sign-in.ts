import { isCustomerName } from './customer.ts';

// Rules for the sign-in to the console at an OpenID Connect issuer.

/** Why a sign-in failed. The console shows a message for each of these codes. */
export type SignInError =
  | 'sign_in_not_available'
  | 'sign_in_denied'
  | 'sign_in_expired'
  | 'sign_in_failed'
  | 'issuer_unavailable'
  | 'role_missing'
  | 'partner_unknown'
  | 'customer_unknown';

/** The names of the claims that describe a user. */
export type ClaimNames = { readonly role: string; readonly partner: string; readonly customer: string };

export type Claims = Readonly<Record<string, unknown>>;

/** A user as the issuer describes it. A partner and a customer with these names may not exist. */
export type SignedInUser = { readonly subject: string; readonly name: string } & (
  | { readonly role: 'operator' }
  | { readonly role: 'partner'; readonly partner: string }
  | { readonly role: 'customer'; readonly partner: string; readonly customer: string }
);

const maxNameLength = 100;

/** Reads the user from the claims of a verified ID token. */
export function readUser(claims: Claims, names: ClaimNames): SignedInUser | { readonly error: SignInError } {
  const { sub } = claims;
  if (typeof sub !== 'string' || sub === '') return { error: 'sign_in_failed' };
  const user = { subject: `user ${sub}`, name: displayNameOf(claims, sub) };
  const role = roleIn(claims[names.role]);
  if (role === null) return { error: 'role_missing' };
  if (role === 'operator') return { ...user, role };
  const partner = claims[names.partner];
  if (typeof partner !== 'string') return { error: 'partner_unknown' };
  if (role === 'partner') return { ...user, role, partner };
  const customer = claims[names.customer];
  if (typeof customer !== 'string' || !isCustomerName(customer)) return { error: 'customer_unknown' };
  return { ...user, role, partner, customer };
}

const roles = ['operator', 'partner', 'customer'] as const;

/**
 * Some issuers send a list of roles, which can contain roles for other applications. It must contain exactly one of
 * ours.
 */
function roleIn(claim: unknown): (typeof roles)[number] | null {
  const found = roles.filter((role) => [claim].flat().includes(role));
  const [role] = found;
  return role !== undefined && found.length === 1 ? role : null;
}

function displayNameOf({ name, preferred_username: username, email }: Claims, subject: string): string {
  const given = [name, username, email].find((text) => typeof text === 'string' && text.trim() !== '');
  const text = (typeof given === 'string' ? given : subject).replaceAll(/\p{Cc}/gu, ' ').trim();
  return Array.from(text).slice(0, maxNameLength).join('');
}

/** Lifetime of a sign-in, from the redirect to the issuer until the redirect back. */
export const signInSeconds = 600;
