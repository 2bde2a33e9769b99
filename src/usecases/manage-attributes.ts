import { requireForeignKeys, type Attribute } from '../domain/attribute.ts';
import { Failure } from '../domain/failure.ts';
import type { Partner } from '../domain/partner.ts';
import type { AttributeStore } from '../ports/attribute-store.ts';
import type { PartnerStore } from '../ports/partner-store.ts';
import { partnerNamed } from './partner-named.ts';

type Deps = { readonly partners: PartnerStore; readonly attributes: AttributeStore };

export async function createAttribute(
  deps: Deps,
  partnerName: string,
  attribute: { readonly name: string; readonly foreignKeys: readonly string[] },
): Promise<Attribute> {
  requireForeignKeys(attribute.foreignKeys);
  return deps.attributes.create((await partnerNamed(deps, partnerName)).id, attribute);
}

export async function listAttributes(deps: Deps, partnerName: string): Promise<readonly Attribute[]> {
  return deps.attributes.list((await partnerNamed(deps, partnerName)).id, { retired: true });
}

export async function renameAttribute(deps: Deps, partnerName: string, id: number, name: string): Promise<void> {
  const partner = await partnerNamed(deps, partnerName);
  requireFound(await deps.attributes.rename(partner.id, id, name), partner, id);
}

export async function retireAttribute(deps: Deps, partnerName: string, id: number): Promise<void> {
  const partner = await partnerNamed(deps, partnerName);
  requireFound(await deps.attributes.retire(partner.id, id), partner, id);
}

export async function tieForeignKeys(
  deps: Deps,
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
