import { z } from 'zod';
import { scopes } from '../../../domain/caller.ts';
import { consoleRoles } from '../../../domain/console-session.ts';
import { folderOfCustomer } from '../../../domain/upload.ts';
import type { FoundSession } from '../../../ports/console.ts';

const signInSchema = z.object({
  /** Whether users can sign in at the OpenID Connect issuer. */
  oidc: z.boolean(),
  /** Whether users can sign in with an API key, which is for development only. */
  api_key: z.boolean(),
});

type SignIn = z.infer<typeof signInSchema>;

export const sessionRecordSchema = z.discriminatedUnion('signed_in', [
  z.object({ signed_in: z.literal(false), sign_in: signInSchema }),
  z.object({
    signed_in: z.literal(true),
    role: z.enum(consoleRoles),
    name: z.string(),
    partner: z.string().nullable(),
    customer: z.string().nullable(),
    /** The only folder from which a customer can load files. Null for other roles. */
    upload_folder: z.string().nullable(),
    scopes: z.array(z.enum([...scopes, 'operator'])),
    segment_id: z.int().nullable(),
    audience_id: z.int().nullable(),
    csrf_token: z.string(),
    /** The time at which the session ends, even if the user is active. */
    expires_at: z.iso.datetime(),
    /** The time at which the session ends if the user stays idle. */
    idle_expires_at: z.iso.datetime(),
    sign_in: signInSchema,
  }),
]);

export type SessionRecord = z.infer<typeof sessionRecordSchema>;

export function sessionRecord(
  { session, idleExpiresAt }: FoundSession,
  csrfToken: string,
  signIn: SignIn,
): SessionRecord {
  const common = {
    signed_in: true,
    name: session.name,
    csrf_token: csrfToken,
    expires_at: session.expiresAt.toISOString(),
    idle_expires_at: idleExpiresAt.toISOString(),
    sign_in: signIn,
  } as const;
  if (session.role === 'operator') {
    const none = { partner: null, customer: null, upload_folder: null, segment_id: null, audience_id: null };
    return { ...common, ...none, role: session.role, scopes: ['operator'] };
  }
  return {
    ...common,
    role: session.role,
    partner: session.partner.name,
    customer: session.customer?.name ?? null,
    upload_folder: session.customer && folderOfCustomer(session.customer.id),
    scopes: [...session.scopes],
    segment_id: session.target?.segmentId ?? null,
    audience_id: session.target?.audienceId ?? null,
  };
}
