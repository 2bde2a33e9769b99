import { inject } from 'vitest';
import { type ApiClient, apiClient } from '../../acceptance/api-client.ts';
import { type AudienceClient, audienceClient } from '../../acceptance/audience-client.ts';
import { device } from '../../support/device-id.ts';
import { configFor } from '../../support/environment.ts';
import { rows } from '../../support/file-rows.ts';
import { type TestPartner, createPartner } from '../../support/partners.ts';
import type { TestStores } from '../../support/stores.ts';

export type ConsolePartner = TestPartner & { readonly api: ApiClient; readonly audiences: AudienceClient };

/** Creates a partner in the service that all tests share. */
export async function newPartner(): Promise<ConsolePartner> {
  const { url, environment } = inject('console');
  const partner = await createPartner(environment);
  return { ...partner, api: apiClient(url, partner.apiKey), audiences: audienceClient(url, partner.apiKey) };
}

/** For access to the tables of the shared service. */
export function sharedStores(): TestStores {
  const { environment, database } = inject('console');
  return { environment, database, config: configFor(environment), drop: () => Promise.resolve() };
}

/** Known devices with each attribute. The devices are numbered from 0. */
const devicesOf = { travel: 400, sports: 1_000, music: 1_600, gaming: 2_000, rare: 20 } as const;
const knownDevices = 2_000;
const matchedDevices = 800;

/**
 * Loads attributes of 2,000 devices and an audience of 1,000 devices, of which 800 match. Its devices are the first
 * ones, so it over-indexes on `travel` and `sports`. The group with `rare` is too small to be shown. `moreAttributes` fill
 * more pages of the report.
 */
export async function loadReport(
  partner: ConsolePartner,
  audiences: AudienceClient = partner.audiences,
  name = 'Summer buyers',
  moreAttributes = 0,
): Promise<{ readonly audienceId: number; readonly segmentId: number }> {
  const more = Array.from({ length: moreAttributes }, (_, n) => [`attribute ${n + 1}`, 300 + 20 * n] as const);
  const all = [...Object.entries(devicesOf), ...more];
  for (const [attribute] of all) await partner.createAttribute(attribute, attribute);
  const keysOf = (n: number): string =>
    all
      .filter(([, devices]) => n < devices)
      .map(([attribute]) => attribute)
      .join('|');
  // Other tests load their own devices, so that the reports do not depend on each other.
  const first = partner.id * 10_000;
  const row = (n: number): string =>
    `${device(first + n)},${n % 2 === 0 ? 1 : 3},${n % 4 === 0 ? 'DE' : 'FR'},0,${keysOf(n)}\n`;
  await partner.upload('attributes.csv', Array.from({ length: knownDevices }, (_, n) => row(n)).join(''));
  const buyers = rows(first, first + 500, 'buy');
  const viewers = rows(first + 500, first + matchedDevices, 'view');
  const unknown = rows(first + knownDevices, first + knownDevices + 200, 'view');
  await partner.upload('members.csv', buyers + viewers + unknown);
  const { status } = await partner.api.waitForEnd(
    await partner.api.queue({ file_path: 'attributes.csv', key_type: 1 }),
  );
  if (status !== 2) throw new Error('the import of the attributes failed');
  const created = await audiences.create(name, 'members.csv');
  await audiences.settled(created.audienceId);
  return created;
}
