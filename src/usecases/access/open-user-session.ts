import { type ClaimNames, type Claims, type SignInError, readUser } from '../../domain/console-sign-in.ts';
import type { ConsoleSessions, NewSession } from '../../ports/console.ts';

/** Maps the claims of an ID token to the attributes of a session. The partner and the customer must exist. */
export async function sessionOfUser(
  { sessions }: { readonly sessions: ConsoleSessions },
  claims: Claims,
  names: ClaimNames,
): Promise<NewSession | { readonly error: SignInError }> {
  const user = readUser(claims, names);
  if ('error' in user) return user;
  const { subject, name, role } = user;
  const session = {
    subject,
    name,
    role,
    partnerId: null,
    customerId: null,
    apiKeyId: null,
    userTokenId: null,
    target: null,
  };
  if (user.role === 'operator') return session;
  const customerName = user.role === 'customer' ? user.customer : null;
  const { partnerId, customerId } = await sessions.findSubject(user.partner, customerName);
  if (partnerId === null) return { error: 'partner_unknown' };
  if (user.role === 'customer' && customerId === null) return { error: 'customer_unknown' };
  return { ...session, partnerId, customerId };
}
