import { apiClient, type ApiClient } from '../acceptance/api-client.ts';
import { createPartner, type TestPartner } from './partners.ts';
import { startService, type Service } from './running-service.ts';
import { createStores, type TestStores } from './stores.ts';

export type Marketplace = {
  readonly stores: TestStores;
  readonly service: Service;
  readonly partner: TestPartner;
  readonly api: ApiClient;
  readonly stop: () => Promise<void>;
};

/** Fresh stores on two shards, a partner, and a running api and worker: what most acceptance suites begin with. */
export async function startMarketplace(
  label: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<Marketplace> {
  const stores = await createStores('two');
  const partner = await createPartner(stores.environment);
  const service = await startService({ ...stores.environment, ...settings }, label);
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
