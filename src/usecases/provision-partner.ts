import { Failure } from '../domain/failure.ts';
import { partnerNamePattern, prefixOfPartner, type Partner } from '../domain/partner.ts';
import type { Secret } from '../domain/secret.ts';
import type { KeyIssuer } from '../ports/key-issuer.ts';
import type { PartnerStore } from '../ports/partner-store.ts';
import type { StorageGrant, StorageProvisioner } from '../ports/storage-provisioner.ts';

type Deps = {
  readonly partners: PartnerStore;
  readonly apiKeys: KeyIssuer;
  readonly storage: StorageProvisioner;
};

export type ProvisionedPartner = { readonly partner: Partner; readonly apiKey: Secret; readonly storage: StorageGrant };

/**
 * Makes a partner. Storage comes first, because it can be repeated: if the record cannot be written, running the
 * command again finishes the work.
 */
export async function provisionPartner(deps: Deps, name: string): Promise<ProvisionedPartner> {
  if (!partnerNamePattern.test(name)) {
    throw new Failure(
      'invalid_request',
      `"${name}" is not a partner name: use 2 to 40 of a-z, 0-9 and single hyphens.`,
    );
  }
  return deps.partners.withNameLocked(name, () => provisionOnce(deps, name));
}

/** One at a time for a name: the storage does not keep two apart that make the same user at once. */
async function provisionOnce(deps: Deps, name: string): Promise<ProvisionedPartner> {
  if (await deps.partners.findByName(name))
    throw new Failure('invalid_request', `There is a partner "${name}" already.`);
  const prefix = prefixOfPartner(name);
  const storage = await deps.storage.provision({ name, prefix });
  const { key, hash } = deps.apiKeys.issue();
  const partner = await deps.partners.create({ name, prefix, keyHash: hash });
  return { partner, apiKey: key, storage };
}
