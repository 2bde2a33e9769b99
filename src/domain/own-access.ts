import type { ApiKey } from './api-key.ts';
import { actorOf } from './audit.ts';
import type { Caller, Scope } from './caller.ts';
import { Failure } from './failure.ts';

// Rules for partners that manage their own attributes, API keys, customers, and user tokens.

/** Maximum number of rows per partner in each table. A key or token that has ended counts until workers delete it. */
export const ownAccessBounds = { apiKeys: 1_000, customers: 10_000, userTokens: 100_000 } as const;

/** Workers delete keys and tokens that ended this many days ago. The audit log still contains them. */
export const endedCredentialDays = 90;

export const maxOverlapHours = 168;
export const defaultOverlapHours = 24;
export const maxKeyDays = 3_650;

/** Maximum number of foreign keys in one request. */
export const maxForeignKeysPerRequest = 1_000;

/** Number of access keys that a partner's storage user can have at the same time. */
export const maxStorageKeys = 5;

/** An access key of the partner's storage user. */
export type StorageKey = {
  readonly accessKeyId: string;
  /** Null for a key that was created with the partner. */
  readonly createdAt: Date | null;
  readonly createdBy: string | null;
  readonly expiresAt: Date | null;
};

export function hasRoomForStorageKey(accessKeyIds: readonly string[]): boolean {
  return accessKeyIds.length < maxStorageKeys;
}

/** Throws if a rotation would exceed the number of access keys. */
export function requireRoomForStorageKey(accessKeyIds: readonly string[]): void {
  if (hasRoomForStorageKey(accessKeyIds)) return;
  const detail = `A partner can have ${maxStorageKeys} storage keys. Wait until an overlap has ended, or rotate without an overlap.`;
  throw new Failure('quota_exceeded', detail);
}

export const maxAttributeNameLength = 100;

/** Names the caller in the audit log and in `created_by`. */
export function actorOfCaller({ keyId, session }: Caller): string {
  return actorOf({ keyId, sessionId: session?.id ?? null });
}

/** Throws if a new or rotated key would have a scope that the caller lacks. */
export function requireGrantable(caller: Pick<Caller, 'scopes'>, granted: readonly Scope[]): void {
  const lacking = granted.filter((scope) => !caller.scopes.includes(scope));
  if (lacking.length === 0) return;
  const list = lacking.map((scope) => `"${scope}"`).join(', ');
  throw new Failure('scope_not_grantable', `The caller lacks ${list} and cannot create a key with it.`);
}

/**
 * Throws if no key could manage keys after the revocation. A key that ends within the longest overlap does not count.
 * `workingKeys` are the keys of the partner that are neither revoked nor expired.
 */
export function requireOtherManagingKey(workingKeys: readonly ApiKey[], revokedId: number, now: Date): void {
  const manages = ({ scopes }: ApiKey): boolean => scopes.includes('keys:write');
  const revoked = workingKeys.find(({ id }) => id === revokedId);
  if (!revoked || !manages(revoked)) return;
  const lasts = ({ expiresAt }: ApiKey): boolean =>
    expiresAt === null || expiresAt.getTime() - now.getTime() > maxOverlapHours * 3_600_000;
  if (workingKeys.some((key) => key.id !== revokedId && manages(key) && lasts(key))) return;
  throw new Failure(
    'last_managing_key',
    `Key ${revokedId} is your last key with the scope "keys:write". Add force=true to revoke it.`,
  );
}

/** Throws if a table has as many rows of the partner as it can have. */
export function requireRoom(name: keyof typeof ownAccessBounds, used: number): void {
  if (used < ownAccessBounds[name]) return;
  const names = { apiKeys: 'API keys', customers: 'customers', userTokens: 'user tokens' };
  const ended = name === 'customers' ? '' : `, including those that ended in the last ${endedCredentialDays} days`;
  throw new Failure('quota_exceeded', `A partner can have ${ownAccessBounds[name]} ${names[name]}${ended}.`);
}

/**
 * Trims and validates the name of an attribute. Reports show these names to other partners, so characters that reverse
 * the direction of text are rejected too.
 */
export function toAttributeName(text: string): string {
  const name = text.trim();
  const hasValidLength = new RegExp(String.raw`^\P{Cc}{1,${maxAttributeNameLength}}$`, 'u').test(name);
  if (hasValidLength && name.isWellFormed() && !/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/.test(name))
    return name;
  const detail = `An attribute name must have 1 to ${maxAttributeNameLength} characters and no control characters.`;
  throw new Failure('invalid_request', detail, { fields: [{ pointer: '/name', detail }] });
}
