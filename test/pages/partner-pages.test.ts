import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installPacked } from '../../scripts/packages/install-packed.ts';
import { readAddresses } from '../../stack/addresses.ts';
import { deleteReplacedPartsSoon } from '../support/replaced-parts.ts';
import { startMarketplace, type Marketplace } from '../support/start-marketplace.ts';
import { followedPages, followPage } from './follow-page.ts';
import { openTerminal, type Terminal } from './terminal.ts';

describe('partner pages', () => {
  let marketplace: Marketplace;
  let installed: ReturnType<typeof installPacked>;
  let terminal: Terminal;
  let given: Record<string, string>;

  beforeAll(async () => {
    marketplace = await startMarketplace('partner-pages', {
      INLET_REQUESTS_PER_KEY: '300',
      INLET_REQUESTS_PER_PARTNER: '1200',
      INLET_MATCHED_UNIT: '50',
      INLET_WEBHOOK_HTTP: 'true',
      INLET_WEBHOOK_NETWORKS: '127.0.0.1/32',
    });
    const { partner, service, stores } = marketplace;
    await deleteReplacedPartsSoon(stores);
    for (const name of ['sports', 'travel', 'music']) await partner.createAttribute(name, name);
    const { endpoint, region } = readAddresses().s3;
    given = {
      INLET_URL: service.url,
      INLET_API_KEY: partner.apiKey,
      INLET_STORAGE_ENDPOINT: endpoint,
      INLET_STORAGE_REGION: region,
      INLET_STORAGE_BUCKET: partner.bucket,
      INLET_STORAGE_PREFIX: partner.prefix,
      INLET_STORAGE_ACCESS_KEY_ID: partner.storageKeys.accessKeyId,
      INLET_STORAGE_SECRET_ACCESS_KEY: partner.storageKeys.secretAccessKey,
    };
    installed = installPacked('sdk', 'row-rule', 'cli');
    terminal = openTerminal({}, join(installed.folder, 'node_modules/.bin'));
  });
  afterAll(async () => {
    await terminal.close();
    installed.remove();
    await marketplace.stop();
  });

  it.each(followedPages.partner)('a partner gets the results that %s shows', async (page) => {
    const { ran, compared } = await followPage(page, terminal, given);
    expect(ran).toBeGreaterThan(0);
    expect(compared).toBeGreaterThan(0);
  });
});
