import { audienceClient, type AudienceClient } from '../acceptance/audience-client.ts';
import { joinMarketplace, startMarketplace, type Marketplace } from './start-marketplace.ts';

export type Audiences = Marketplace & {
  readonly audiences: AudienceClient;
  /** Adds devices to the device warehouse with an import. */
  readonly makeKnown: (ids: readonly string[]) => Promise<void>;
};

/** Like `startMarketplace`, with a client for audiences. */
export async function startAudiences(
  label: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<Audiences> {
  return withAudiences(await startMarketplace(label, settings));
}

/** Like `joinMarketplace`, with a client for audiences. */
export async function joinAudiences(): Promise<Audiences> {
  return withAudiences(await joinMarketplace());
}

function withAudiences(market: Marketplace): Audiences {
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
