import { z } from 'zod';
import type { StorageKey } from '../../../domain/own-access.ts';
import type { Secret } from '../../../domain/secret.ts';
import { timestamp } from '../schemas.ts';

export const storageKeySchema = z
  .object({
    access_key_id: z.string(),
    created_at: timestamp.nullable().meta({ description: 'Null for a key that was created with your account.' }),
    created_by: z
      .string()
      .nullable()
      .meta({ description: 'The key or console session that created the storage key. Null for the operator.' }),
    expires_at: timestamp.nullable().meta({
      description:
        'When the key is removed from the storage, accurate to about ten seconds. Null if no removal is scheduled.',
    }),
  })
  .meta({ id: 'StorageKey' });

export const rotatedStorageKeySchema = storageKeySchema
  .extend({
    secret_access_key: z.string().nullable().meta({
      description:
        'The secret, which is shown only here. Null in the response to a repeated request, because Inlet does not store it.',
    }),
    replaces: z.array(storageKeySchema).meta({ description: 'The other keys, which will expire.' }),
  })
  .meta({ id: 'RotatedStorageKey' });

type StorageKeyRecord = z.input<typeof storageKeySchema>;

export function storageKeyRecord({ accessKeyId, createdAt, createdBy, expiresAt }: StorageKey): StorageKeyRecord {
  return {
    access_key_id: accessKeyId,
    created_at: createdAt?.toISOString() ?? null,
    created_by: createdBy,
    expires_at: expiresAt?.toISOString() ?? null,
  };
}

/** The only place where a storage secret is written into a response. */
export function rotatedStorageKeyRecord(
  [made, ...others]: readonly StorageKey[],
  secret: Secret | null,
): z.input<typeof rotatedStorageKeySchema> {
  if (!made) throw new Error('a rotation returns the new key');
  return {
    ...storageKeyRecord(made),
    secret_access_key: secret?.reveal() ?? null,
    replaces: others.map(storageKeyRecord),
  };
}

export const storageKeyExample = {
  access_key_id: '0555b35654ad1656d804',
  created_at: '2026-11-18T09:00:00.000Z',
  created_by: 'key 3',
  expires_at: null,
} satisfies StorageKeyRecord;
