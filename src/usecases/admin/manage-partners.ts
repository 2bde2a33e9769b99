import { type Attribute, requireForeignKeys } from '../../domain/attribute.ts';
import { Failure } from '../../domain/failure.ts';
import { unfinishedOf } from '../../domain/partner-removal.ts';
import { type Partner, type PartnerSettings, partnerNamePattern, prefixOfPartner } from '../../domain/partner.ts';
import type { Secret } from '../../domain/secret.ts';
import type { KeyIssuer } from '../../ports/crypto.ts';
import type { StorageProvisioner } from '../../ports/object-store.ts';
import type { DeviceRetentionState } from '../../ports/device-retention.ts';
import type { PartnerRemovals } from '../../ports/partner-removal.ts';
import type { PartnerStore, AttributeStore } from '../../ports/partner-store.ts';

export async function partnerNamed(deps: { readonly partners: PartnerStore }, name: string): Promise<Partner> {
  const partner = await deps.partners.findByName(name);
  if (!partner) throw new Failure('not_found', `Partner "${name}" does not exist.`);
  return partner;
}

/** A removal that has not finished would delete what is stored under the name. A removal begins under the lock on the name. */
async function requireNoRemoval(
  { removals }: { readonly removals: Pick<PartnerRemovals, 'find'> },
  name: string,
): Promise<void> {
  if (!unfinishedOf(await removals.find(name))) return;
  const detail = `The partner "${name}" is being removed. To finish its removal, run \`inlet partner remove ${name} --confirm ${name}\`.`;
  throw new Failure('invalid_request', detail);
}

type ProvisionDeps<Grant> = {
  readonly partners: PartnerStore;
  readonly removals: Pick<PartnerRemovals, 'find'>;
  readonly apiKeys: KeyIssuer;
  readonly storage: StorageProvisioner<Grant>;
};

type ProvisionedPartner<Grant> = { readonly partner: Partner; readonly apiKey: Secret; readonly storage: Grant };

/**
 * Creates a partner. The storage user is created first, because that step can be repeated. If the command is
 * interrupted, running it again completes it.
 */
export async function provisionPartner<Grant>(
  deps: ProvisionDeps<Grant>,
  name: string,
): Promise<ProvisionedPartner<Grant>> {
  if (!partnerNamePattern.test(name)) {
    throw new Failure(
      'invalid_request',
      `"${name}" is not a valid partner name. Use 2 to 40 characters of a-z, 0-9 and single hyphens.`,
    );
  }
  return deps.partners.withNameLocked(name, () => provisionOnce(deps, name));
}

/** Runs under a lock on the name, because the storage does not handle concurrent creation of the same user. */
async function provisionOnce<Grant>(deps: ProvisionDeps<Grant>, name: string): Promise<ProvisionedPartner<Grant>> {
  const existing = await deps.partners.findByName(name);
  await requireNoRemoval(deps, name);
  if (existing) throw new Failure('invalid_request', `Partner "${name}" already exists.`);
  const prefix = prefixOfPartner(name);
  const storage = await deps.storage.provision({ name, prefix });
  const { key, hash } = deps.apiKeys.issue();
  const partner = await deps.partners.create({ name, prefix, keyHash: hash });
  return { partner, apiKey: key, storage };
}

type SettingsDeps = { readonly partners: PartnerStore };

/** Resuming lanes sends the tokens that suspended lanes have returned. */
type SuspendDeps = {
  readonly partners: PartnerStore;
  readonly removals: Pick<PartnerRemovals, 'find'>;
  readonly lanes: { readonly requeueIdleLanes: () => Promise<void> };
};

/** A running job continues to its end. Later jobs wait. */
export async function suspendPartner({ partners }: Pick<SuspendDeps, 'partners'>, name: string): Promise<Partner> {
  const partner = await partnerNamed({ partners }, name);
  await partners.suspend(partner.id);
  return partner;
}

export async function resumePartner(deps: SuspendDeps, name: string): Promise<Partner> {
  const { partners, lanes } = deps;
  const partner = await partners.withNameLocked(name, async () => {
    const found = await partnerNamed(deps, name);
    await requireNoRemoval(deps, name);
    await partners.resume(found.id);
    return found;
  });
  await lanes.requeueIdleLanes();
  return partner;
}

export type ShownPartner = Partner &
  PartnerSettings & {
    readonly externalId: string;
    readonly suspendedAt: Date | null;
    readonly deviceRetention: DeviceRetentionState;
  };

export async function showPartner(deps: SettingsDeps, name: string): Promise<ShownPartner> {
  const partner = await partnerNamed(deps, name);
  const externalId = await deps.partners.readExternalId(partner.id);
  const suspendedAt = await deps.partners.readSuspension(partner.id);
  const deviceRetention = await deps.partners.readDeviceRetention(partner.id);
  return { ...partner, externalId, suspendedAt, deviceRetention, ...(await deps.partners.readSettings(partner.id)) };
}

/** Returns the resulting settings. */
export async function setPartner(
  deps: SettingsDeps,
  name: string,
  settings: Partial<PartnerSettings>,
): Promise<ShownPartner> {
  if (Object.keys(settings).length === 0)
    throw new Failure(
      'invalid_request',
      'No setting was given. Pass --audience-bad-rows, --unhyphenated-ids, or --device-days.',
    );
  await deps.partners.writeSettings((await partnerNamed(deps, name)).id, settings);
  return showPartner(deps, name);
}

type AttributeDeps = { readonly partners: PartnerStore; readonly attributes: AttributeStore };

export async function createAttribute(
  deps: AttributeDeps,
  partnerName: string,
  attribute: { readonly name: string; readonly foreignKeys: readonly string[] },
): Promise<Attribute> {
  requireForeignKeys(attribute.foreignKeys);
  return deps.attributes.create((await partnerNamed(deps, partnerName)).id, attribute);
}

export async function listAttributes(deps: AttributeDeps, partnerName: string): Promise<readonly Attribute[]> {
  return deps.attributes.list((await partnerNamed(deps, partnerName)).id, { retired: true });
}

export async function renameAttribute(
  deps: AttributeDeps,
  partnerName: string,
  id: number,
  name: string,
): Promise<void> {
  const partner = await partnerNamed(deps, partnerName);
  requireFound(await deps.attributes.rename(partner.id, id, name), partner, id);
}

export async function retireAttribute(deps: AttributeDeps, partnerName: string, id: number): Promise<void> {
  const partner = await partnerNamed(deps, partnerName);
  requireFound(await deps.attributes.retire(partner.id, id), partner, id);
}

export async function tieForeignKeys(
  deps: AttributeDeps,
  partnerName: string,
  id: number,
  keys: readonly string[],
): Promise<void> {
  requireForeignKeys(keys);
  const partner = await partnerNamed(deps, partnerName);
  requireFound(await deps.attributes.tie(partner.id, id, keys), partner, id);
}

function requireFound(found: boolean, partner: Partner, id: number): void {
  if (!found) throw new Failure('not_found', `The partner "${partner.name}" has no attribute ${id}.`);
}
