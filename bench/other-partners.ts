import { audienceClient, type AudienceClient } from '../test/acceptance/audience-client.ts';
import { createPartner } from '../test/support/partners.ts';
import { putFile } from './files.ts';
import type { Running } from './service.ts';

/** Creates more partners, each with its own file of `rows` rows. */
export async function otherPartners(
  running: Running,
  count: number,
  path: string,
  rows: number,
): Promise<AudienceClient[]> {
  const clients: AudienceClient[] = [];
  for (let n = 0; n < count; n++) {
    const partner = await createPartner(running.stores.environment);
    await putFile(running, path, { from: n * rows, count: rows }, { partner });
    clients.push(audienceClient(running.service.url, partner.apiKey));
  }
  return clients;
}
