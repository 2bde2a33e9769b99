import { apiClient, type ApiClient } from '../acceptance/api-client.ts';
import { createPartner, type TestPartner } from './partners.ts';
import { startService, type Service } from './running-service.ts';
import { sharedService } from './shared-service.ts';
import { createStores, type TestStores } from './stores.ts';

export type Marketplace = {
  readonly stores: TestStores;
  readonly service: Service;
  readonly partner: TestPartner;
  readonly api: ApiClient;
  readonly stop: () => Promise<void>;
};

/**
 * Starts an API and a worker with fresh stores for one suite. Use it for suites that need special settings or stop a
 * process.
 */
export async function startMarketplace(
  label: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<Marketplace> {
  const stores = await createStores('two');
  const [partner, service] = await Promise.all([
    createPartner(stores.environment),
    startService({ ...stores.environment, ...settings }, label),
  ]);
  return {
    stores,
    service,
    partner,
    api: apiClient(service.url, partner.apiKey),
    stop: async () => {
      await service.stop();
      await stores.drop();
    },
  };
}

/** Creates a partner in the service that all suites with default settings share. */
export async function joinMarketplace(): Promise<Marketplace> {
  const { stores, service } = await sharedService();
  const partner = await createPartner(stores.environment);
  return { stores, service, partner, api: apiClient(service.url, partner.apiKey), stop: () => Promise.resolve() };
}
