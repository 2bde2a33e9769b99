import { Failure } from '../domain/failure.ts';
import { partnerNamePattern, prefixOfPartner, type Partner } from '../domain/partner.ts';
import type { Secret } from '../domain/secret.ts';
import type { KeyIssuer } from '../ports/key-issuer.ts';
import type { PartnerStore } from '../ports/partner-store.ts';
import type { StorageProvisioner } from '../ports/storage-provisioner.ts';

type Deps<Grant> = {
  readonly partners: PartnerStore;
  readonly apiKeys: KeyIssuer;
  readonly storage: StorageProvisioner<Grant>;
};

type ProvisionedPartner<Grant> = { readonly partner: Partner; readonly apiKey: Secret; readonly storage: Grant };

/**
 * Makes a partner. Storage comes first, because it can be repeated: if the record cannot be written, running the
 * command again finishes the work.
 */
export async function provisionPartner<Grant>(deps: Deps<Grant>, name: string): Promise<ProvisionedPartner<Grant>> {
  if (!partnerNamePattern.test(name)) {
    throw new Failure(
      'invalid_request',
      `"${name}" is not a partner name: use 2 to 40 of a-z, 0-9 and single hyphens.`,
    );
  }
  return deps.partners.withNameLocked(name, () => provisionOnce(deps, name));
}

/** One at a time for a name: the storage does not keep two apart that make the same user at once. */
async function provisionOnce<Grant>(deps: Deps<Grant>, name: string): Promise<ProvisionedPartner<Grant>> {
  if (await deps.partners.findByName(name))
    throw new Failure('invalid_request', `There is a partner "${name}" already.`);
  const prefix = prefixOfPartner(name);
  const storage = await deps.storage.provision({ name, prefix });
  const { key, hash } = deps.apiKeys.issue();
  const partner = await deps.partners.create({ name, prefix, keyHash: hash });
  return { partner, apiKey: key, storage };
}
