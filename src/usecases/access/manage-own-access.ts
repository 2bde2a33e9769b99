import type { ApiKey } from '../../domain/api-key.ts';
import { toKeyName } from '../../domain/api-key.ts';
import { type Attribute, requireForeignKeys } from '../../domain/attribute.ts';
import type { Scope } from '../../domain/caller.ts';
import { type Customer, toCustomerName } from '../../domain/customer.ts';
import { requireGrantable, requireOtherManagingKey, toAttributeName } from '../../domain/own-access.ts';
import type { Secret } from '../../domain/secret.ts';
import type { KeyIssuer } from '../../ports/crypto.ts';
import type { OwnAttributes, OwnChange, OwnCustomers, OwnKeys, OwnUserToken } from '../../ports/own-access.ts';

// Partners manage their own attributes, API keys, customers, and user tokens.

export type OwnAttributeDeps = { readonly ownAttributes: OwnAttributes };

export async function createOwnAttribute(
  { ownAttributes }: OwnAttributeDeps,
  change: OwnChange,
  { name, foreignKeys }: { readonly name: string; readonly foreignKeys: readonly string[] },
): Promise<Attribute> {
  return ownAttributes.create(change, { name: toAttributeName(name), foreignKeys: toForeignKeys(foreignKeys) });
}

export async function renameOwnAttribute(
  { ownAttributes }: OwnAttributeDeps,
  change: OwnChange,
  attributeId: number,
  name: string,
): Promise<Attribute> {
  return ownAttributes.rename(change, attributeId, toAttributeName(name));
}

export async function tieOwnForeignKeys(
  { ownAttributes }: OwnAttributeDeps,
  change: OwnChange,
  attributeId: number,
  foreignKeys: readonly string[],
): Promise<Attribute> {
  return ownAttributes.tie(change, attributeId, toForeignKeys(foreignKeys));
}

function toForeignKeys(given: readonly string[]): readonly string[] {
  requireForeignKeys(given);
  return [...new Set(given)];
}

export type OwnKeyDeps = { readonly ownKeys: OwnKeys; readonly apiKeys: KeyIssuer };

/** The secret is null if the request is a repetition, because only its hash is stored. */
type Issued<T> = { readonly made: T; readonly secret: Secret | null };

const secondsPerDay = 86_400;
const secondsPerHour = 3_600;

/** Creates a key that has no scope that the caller lacks. */
export async function createOwnKey(
  { ownKeys, apiKeys }: OwnKeyDeps,
  change: OwnChange,
  { name, scopes, days }: { readonly name: string; readonly scopes: readonly Scope[]; readonly days: number | null },
): Promise<Issued<ApiKey>> {
  requireGrantable(change.caller, scopes);
  const newKey = { name: toKeyName(name), scopes, livesSeconds: days === null ? null : days * secondsPerDay };
  return issueOnce(apiKeys, change, (own, hash) => ownKeys.create(own, hash, newKey));
}

/** Replaces a key with one that has the same scopes. The caller needs them, because it learns the secret. */
export async function rotateOwnKey(
  { ownKeys, apiKeys }: OwnKeyDeps,
  change: OwnChange,
  keyId: number,
  { overlapHours, days }: { readonly overlapHours: number; readonly days: number | null },
): Promise<Issued<{ readonly old: ApiKey; readonly made: ApiKey }>> {
  const times = {
    overlapSeconds: overlapHours * secondsPerHour,
    livesSeconds: days === null ? null : days * secondsPerDay,
  };
  return issueOnce(apiKeys, change, (own, keyHash) =>
    ownKeys.rotate(own, keyId, { keyHash, ...times }, ({ scopes }) => requireGrantable(change.caller, scopes)),
  );
}

/** Revokes a key. With `isForced`, this can be the last key that can manage keys. */
export async function revokeOwnKey(
  { ownKeys }: Pick<OwnKeyDeps, 'ownKeys'>,
  change: OwnChange,
  keyId: number,
  isForced: boolean,
): Promise<void> {
  await ownKeys.revoke(change, keyId, (workingKeys) => {
    if (!isForced) requireOtherManagingKey(workingKeys, keyId, new Date());
  });
}

export type OwnCustomerDeps = { readonly ownCustomers: OwnCustomers };

export async function createOwnCustomer(
  { ownCustomers }: OwnCustomerDeps,
  change: OwnChange,
  name: string,
): Promise<Customer> {
  return ownCustomers.create(change, toCustomerName(name));
}

export async function renameOwnCustomer(
  { ownCustomers }: OwnCustomerDeps,
  change: OwnChange,
  customerId: number,
  name: string,
): Promise<Customer> {
  return ownCustomers.rename(change, customerId, toCustomerName(name));
}

export async function createOwnUserToken(
  { ownCustomers, userTokens }: OwnCustomerDeps & { readonly userTokens: KeyIssuer },
  change: OwnChange,
  customerId: number,
): Promise<Issued<OwnUserToken>> {
  return issueOnce(userTokens, change, (own, hash) => ownCustomers.addToken(own, customerId, hash));
}

/** Issues a secret and stores its hash. If the request is a repetition, the new secret was not stored. */
async function issueOnce<T>(
  issuer: KeyIssuer,
  { caller, idempotency }: OwnChange,
  store: (change: OwnChange, hash: Uint8Array) => Promise<T>,
): Promise<Issued<T>> {
  const { key, hash } = issuer.issue();
  let isRepeated = false;
  const onReplay = (): void => {
    isRepeated = true;
    idempotency?.onReplay();
  };
  const made = await store({ caller, idempotency: idempotency && { ...idempotency, onReplay } }, hash);
  return { made, secret: isRepeated ? null : key };
}
