import { z } from 'zod';
import type { ApiKey } from '../../../domain/api-key.ts';
import { type Caller, scopes } from '../../../domain/caller.ts';
import type { Secret } from '../../../domain/secret.ts';
import { timestamp } from '../schemas.ts';

export const scopeSchema = z.enum(scopes);

const time = (description: string) => timestamp.nullable().meta({ description });

export const apiKeySchema = z
  .object({
    key_id: z.int(),
    name: z.string(),
    scopes: z.array(z.string()),
    created_at: timestamp,
    created_by: z
      .string()
      .nullable()
      .meta({ description: 'The key or console session that created the key. Null for the operator.' }),
    last_used_at: time('When the key was last used, accurate to about a minute. Null if it was never used.'),
    expires_at: time('When the key stops working. Null if it never expires.'),
    revoked_at: time('When the key was revoked.'),
    current: z.boolean().meta({ description: 'Whether this request was sent with the key.' }),
  })
  .meta({ id: 'ApiKey' });

export const createdKeySchema = apiKeySchema
  .extend({
    api_key: z.string().nullable().meta({
      description:
        'The API key, which is shown only here. Null in the response to a repeated request, because Inlet stores only a hash.',
    }),
  })
  .meta({ id: 'CreatedApiKey' });

type ApiKeyRecord = z.input<typeof apiKeySchema>;

export function apiKeyRecord(key: ApiKey, { keyId }: Caller): ApiKeyRecord {
  return {
    key_id: key.id,
    name: key.name,
    scopes: [...key.scopes],
    created_at: key.createdAt.toISOString(),
    created_by: key.createdBy,
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
    expires_at: key.expiresAt?.toISOString() ?? null,
    revoked_at: key.revokedAt?.toISOString() ?? null,
    current: key.id === keyId,
  };
}

/** The only place where an API key is written into a response. */
export function createdKeyRecord(key: ApiKey, secret: Secret | null, caller: Caller): z.input<typeof createdKeySchema> {
  return { ...apiKeyRecord(key, caller), api_key: secret?.reveal() ?? null };
}

export const apiKeyExample = {
  key_id: 17,
  name: 'nightly import',
  scopes: ['marketplace:read', 'marketplace:write'],
  created_at: '2026-11-18T09:00:00.000Z',
  created_by: 'key 3',
  last_used_at: null,
  expires_at: '2027-11-18T09:00:00.000Z',
  revoked_at: null,
  current: false,
} satisfies ApiKeyRecord;

/** Not a real key: its checksum is wrong. */
export const createdKeyExample = {
  ...apiKeyExample,
  api_key: 'inlet_live_key_<shown once>',
} satisfies z.input<typeof createdKeySchema>;
