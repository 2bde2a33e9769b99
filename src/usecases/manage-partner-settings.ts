import type { Partner, PartnerSettings } from '../domain/partner.ts';
import type { PartnerStore } from '../ports/partner-store.ts';
import { partnerNamed } from './partner-named.ts';

type Deps = { readonly partners: PartnerStore };

export async function showPartner(deps: Deps, name: string): Promise<Partner & PartnerSettings> {
  const partner = await partnerNamed(deps, name);
  return { ...partner, ...(await deps.partners.readSettings(partner.id)) };
}

/** Gives what is set afterwards. */
export async function setPartner(
  deps: Deps,
  name: string,
  settings: PartnerSettings,
): Promise<Partner & PartnerSettings> {
  await deps.partners.writeSettings((await partnerNamed(deps, name)).id, settings);
  return showPartner(deps, name);
}
