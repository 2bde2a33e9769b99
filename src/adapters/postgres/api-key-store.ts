import type { PartnerId } from '../../domain/ids.ts';
import { type RawBuilder, type Selectable, sql } from 'kysely';
import type { ApiKey, NewApiKey } from '../../domain/api-key.ts';
import { toScopes } from '../../domain/caller.ts';
import type { ApiKeyStore, KeyHolder } from '../../ports/partner-store.ts';
import type { Database, Tables, Tx } from './db/tables.ts';

export function postgresApiKeyStore(db: Database): ApiKeyStore {
  return {
    create: (partnerId, keyHash, newKey) => insertKey(db, partnerId, keyHash, newKey),
    list: async (partnerId, { afterId, limit }) => {
      const ofPartner = db.selectFrom('api_key').select(shownColumns).where('partner_id', '=', partnerId);
      const rows = await ofPartner.where('id', '>', afterId).orderBy('id').limit(limit).execute();
      return rows.map(toApiKey);
    },
    rotate: (partnerId, keyId, next) => db.transaction().execute((tx) => rotateKey(tx, partnerId, keyId, next)),
    revoke: async (partnerId, keyId) => {
      const revoked = await db
        .updateTable('api_key')
        .set({ revoked_at: sql<Date>`coalesce(revoked_at, now())` })
        .where('partner_id', '=', partnerId)
        .where('id', '=', keyId)
        .returning('id')
        .executeTakeFirst();
      return revoked !== undefined;
    },
    recordUses: (keyIds) => recordUses(db, keyIds),
  };
}

/** All columns except the hash. */
export const shownColumns = [
  'id',
  'name',
  'scopes',
  'created_at as createdAt',
  'last_used_at as lastUsedAt',
  'expires_at as expiresAt',
  'revoked_at as revokedAt',
  'created_by as createdBy',
] as const;

export function toApiKey(row: Omit<ApiKey, 'scopes'> & { readonly scopes: readonly string[] | null }): ApiKey {
  return { ...row, scopes: toScopes(row.scopes) };
}

/** The caller that creates a key, and the time after which the key must not work. */
export type KeyCreator = { readonly createdBy: string; readonly expiresBy: Date | null };

export async function insertKey(
  db: Database | Tx,
  partnerId: PartnerId,
  keyHash: Uint8Array,
  { name, scopes, livesSeconds }: NewApiKey,
  creator: KeyCreator | null = null,
): Promise<ApiKey> {
  const made = await db
    .insertInto('api_key')
    .values({
      partner_id: partnerId,
      key_hash: Buffer.from(keyHash),
      name,
      scopes: scopes && [...scopes],
      // Uses the database clock, as the check for expired keys does. least() ignores null.
      expires_at: sql<Date | null>`least(now() + make_interval(secs => ${livesSeconds}::double precision),
        ${creator?.expiresBy ?? null}::timestamptz)`,
      created_by: creator?.createdBy ?? null,
    })
    .returning(shownColumns)
    .executeTakeFirstOrThrow();
  return toApiKey(made);
}

/**
 * Records when keys were used. Several processes may report the same key, but only the first report within a minute is
 * written.
 */
async function recordUses(db: Database, keyIds: readonly number[]): Promise<void> {
  await sql`SELECT note_key_uses(${keyIds}::bigint[])`.execute(db);
}

type Next = Parameters<ApiKeyStore['rotate']>[2];

/**
 * Replaces a key. Both keys change in one transaction, so that the old key never expires without a successor. `check`
 * can reject the rotation of the key.
 */
export async function rotateKey(
  tx: Tx,
  partnerId: PartnerId,
  keyId: number,
  next: Next,
  { creator = null, check }: { readonly creator?: KeyCreator | null; readonly check?: (old: ApiKey) => void } = {},
): Promise<{ old: ApiKey; made: ApiKey } | null> {
  const before = await tx
    .selectFrom('api_key')
    .where('partner_id', '=', partnerId)
    .where('id', '=', keyId)
    .where(isWorking)
    .select([...shownColumns, sql<number | null>`extract(epoch FROM expires_at - created_at)::float8`.as('lived')])
    .forUpdate()
    .executeTakeFirst();
  if (!before) return null;
  check?.(toApiKey(before));
  const old = await tx
    .updateTable('api_key')
    // The earlier of the two times. least() ignores null.
    .set({ expires_at: sql<Date>`least(expires_at, now() + make_interval(secs => ${next.overlapSeconds}))` })
    .where('partner_id', '=', partnerId)
    .where('id', '=', keyId)
    .returning(shownColumns)
    .executeTakeFirstOrThrow();
  const newKey = {
    name: before.name,
    scopes: before.scopes === null ? null : toApiKey(old).scopes,
    livesSeconds: next.livesSeconds ?? before.lived,
  };
  return { old: toApiKey(old), made: await insertKey(tx, partnerId, next.keyHash, newKey, creator) };
}

/** A condition that holds for keys that are neither revoked nor expired. */
export const isWorking = sql<boolean>`revoked_at IS NULL AND coalesce(expires_at > now(), true)`;

/**
 * Finds the partner that owns a key. The index lookup takes slightly longer if more leading bytes match, but the timing
 * reveals nothing useful. A caller chooses a key, not a hash, and a prefix of a SHA-256 hash reveals nothing about the
 * key's 196 random bits.
 */
export async function selectKeyHolder(db: Database, keyHash: Uint8Array): Promise<KeyHolder | null> {
  const found = await db
    .selectFrom(keyWithHash(keyHash).as('key'))
    .innerJoin(partnerWithKey(keyHash).as('partner'), 'partner.id', 'key.partner_id')
    .select([
      'partner.id',
      'partner.name',
      'partner.prefix',
      'key.id as keyId',
      'key.scopes',
      sql<boolean>`key.revoked_at IS NULL AND coalesce(key.expires_at > now(), true)`.as('isValid'),
      sql<boolean>`partner.suspended_at IS NOT NULL`.as('isSuspended'),
      // Uses the same interval as note_key_uses(), which makes the final decision.
      sql<boolean>`coalesce(key.last_used_at < now() - interval '1 minute', true)`.as('isUseDue'),
    ])
    .executeTakeFirst();
  if (!found) return null;
  const { id, name, prefix, keyId, isValid, isSuspended, isUseDue } = found;
  return { partner: { id, name, prefix }, keyId, scopes: toScopes(found.scopes), isValid, isSuspended, isUseDue };
}

// Before authentication, row-level security hides all rows from the API role. These functions are used instead of the
// tables and return only the rows for one key.

function keyWithHash(keyHash: Uint8Array): RawBuilder<Selectable<Tables['api_key']>> {
  return sql`key_with_hash(${Buffer.from(keyHash)})`;
}

function partnerWithKey(keyHash: Uint8Array): RawBuilder<Selectable<Tables['partner']>> {
  return sql`partner_with_key(${Buffer.from(keyHash)})`;
}
