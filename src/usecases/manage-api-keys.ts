import type { ApiKey, KeyWish } from '../domain/api-key.ts';
import { Failure } from '../domain/failure.ts';
import { parseKey } from '../domain/key-format.ts';
import type { Secret } from '../domain/secret.ts';
import type { ApiKeyStore } from '../ports/api-key-store.ts';
import type { Page } from '../ports/customer-store.ts';
import type { KeyIssuer } from '../ports/key-issuer.ts';
import type { KeyHolder, PartnerStore } from '../ports/partner-store.ts';
import { partnerNamed } from './partner-named.ts';

type Deps = { readonly partners: PartnerStore; readonly keys: ApiKeyStore };
type Issuing = Deps & { readonly apiKeys: KeyIssuer };

type IssuedKey = { readonly key: Secret; readonly made: ApiKey };

export async function createApiKey(deps: Issuing, partnerName: string, wish: KeyWish): Promise<IssuedKey> {
  const partner = await partnerNamed(deps, partnerName);
  const { key, hash } = deps.apiKeys.issue();
  return { key, made: await deps.keys.create(partner.id, hash, wish) };
}

export async function listApiKeys(deps: Deps, partnerName: string, page: Page): Promise<readonly ApiKey[]> {
  return deps.keys.list((await partnerNamed(deps, partnerName)).id, page);
}

export async function rotateApiKey(
  deps: Issuing,
  partnerName: string,
  keyId: number,
  times: { readonly livesSeconds: number | null; readonly overlapSeconds: number },
): Promise<IssuedKey & { readonly old: ApiKey }> {
  const partner = await partnerNamed(deps, partnerName);
  const { key, hash } = deps.apiKeys.issue();
  const rotated = await deps.keys.rotate(partner.id, keyId, { keyHash: hash, ...times });
  if (rotated) return { key, ...rotated };
  throw new Failure('not_found', `The partner "${partnerName}" has no key ${keyId} that works.`);
}

export async function revokeApiKey(deps: Deps, partnerName: string, keyId: number): Promise<void> {
  const partner = await partnerNamed(deps, partnerName);
  if (await deps.keys.revoke(partner.id, keyId)) return;
  throw new Failure('not_found', `The partner "${partnerName}" has no key ${keyId}.`);
}

/** What was found somewhere: whether it can be a key, and whose it is. */
export async function identifyApiKey(
  deps: { readonly partners: PartnerStore; readonly apiKeys: KeyIssuer },
  text: string,
): Promise<{ readonly format: ReturnType<typeof parseKey>; readonly holder: KeyHolder | null }> {
  const holder = deps.apiKeys.mayHaveIssued(text) ? await deps.partners.findByKeyHash(deps.apiKeys.hash(text)) : null;
  return { format: parseKey(text), holder };
}
