import type { Partner, PartnerSettings } from '../domain/partner.ts';
import type { PartnerStore } from '../ports/partner-store.ts';
import { partnerNamed } from './partner-named.ts';

type Deps = { readonly partners: PartnerStore };

export type ShownPartner = Partner & PartnerSettings & { readonly externalId: string };

export async function showPartner(deps: Deps, name: string): Promise<ShownPartner> {
  const partner = await partnerNamed(deps, name);
  const externalId = await deps.partners.readExternalId(partner.id);
  return { ...partner, externalId, ...(await deps.partners.readSettings(partner.id)) };
}

/** Gives what is set afterwards. */
export async function setPartner(deps: Deps, name: string, settings: PartnerSettings): Promise<ShownPartner> {
  await deps.partners.writeSettings((await partnerNamed(deps, name)).id, settings);
  return showPartner(deps, name);
}
