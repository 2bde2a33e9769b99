import { Failure } from '../domain/failure.ts';
import type { Partner } from '../domain/partner.ts';
import type { PartnerStore } from '../ports/partner-store.ts';

export async function partnerNamed(deps: { readonly partners: PartnerStore }, name: string): Promise<Partner> {
  const partner = await deps.partners.findByName(name);
  if (!partner) throw new Failure('not_found', `There is no partner "${name}".`);
  return partner;
}
