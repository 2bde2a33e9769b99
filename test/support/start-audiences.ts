import { audienceClient, type AudienceClient } from '../acceptance/audience-client.ts';
import { startMarketplace, type Marketplace } from './start-marketplace.ts';

export type Audiences = Marketplace & {
  readonly audiences: AudienceClient;
  /** Tells the device warehouse of the devices of these numbers, by an import. */
  readonly makeKnown: (ids: readonly string[]) => Promise<void>;
};

/** What the suites of audiences begin with: a running service, and its partner's client. */
export async function startAudiences(
  label: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<Audiences> {
  const market = await startMarketplace(label, settings);
  const { partner, api, service } = market;
  let attribute: Promise<number> | undefined;
  let serial = 0;
  return {
    ...market,
    audiences: audienceClient(service.url, partner.apiKey),
    makeKnown: async (ids) => {
      attribute ??= partner.createAttribute('known', 'known');
      await attribute;
      serial += 1;
      const path = `known/${serial}.csv`;
      await partner.upload(path, ids.map((id) => `${id},known\n`).join(''));
      const { status } = await api.waitForEnd(await api.queue({ file_path: path, key_type: 1 }));
      if (status !== 2) throw new Error('the import of known devices failed');
    },
  };
}
