import { describe, expect, it } from 'vitest';
import { laneQueue, laneToken } from '../../src/adapters/postgres/queue/tokens.ts';
import { withDatabase } from '../support/stores.ts';
import { wireAll } from '../support/wired.ts';
import { waitUntilLoaded } from './support/measure.ts';
import { openPage } from './support/open-page.ts';
import { newPartner, sharedStores } from './support/partner.ts';
import { signInAsOperator } from './support/sign-in.ts';

describe('the lanes page', () => {
  it('shows why the last attempt failed, and links to the instructions', async () => {
    const stores = sharedStores();
    const partner = await newPartner();
    const { data, singletonKey } = laneToken(partner.id);
    const failure = { code: 'unavailable', dependency: 'partner_storage' };
    // The token of a lane whose job was tried before. The job does not get another token.
    const deps = await wireAll(stores.config);
    await deps.boss.insert(laneQueue, [{ data: { ...data, waits: 3, failure }, singletonKey, startAfter: 3_600 }]);
    await deps.close();
    const jobId = await partner.api.queue({ file_path: 'none.csv', key_type: 1 });

    const { page, context } = await openPage();
    await signInAsOperator(context);
    await page.goto('/console/operator/lanes');
    await waitUntilLoaded(page);
    const lane = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: partner.name }) });
    await lane.getByText("Last attempt: the partner's own bucket was unavailable.").waitFor();
    await lane.getByText('Ask the partner to make its bucket available').waitFor();
    await lane.getByText(`Commands for ${partner.name}`).click();
    for (const command of ['inlet doctor', `inlet jobs cancel ${jobId}`])
      await lane.getByRole('button', { name: `Copy the command ${command}`, exact: true }).waitFor();
    await lane.getByRole('link', { name: 'What to do' }).click();
    await page.waitForURL('**/console/operator/incidents#partner_storage');
    const target = page.getByRole('article').filter({ hasText: 'inlet lanes shows partner_storage' });
    await expect.poll(() => target.getByRole('heading').getAttribute('class')).toBe('target');
    await target.getByText('ask the partner to make its storage available').waitFor();

    await withDatabase(stores, (client) =>
      client.query('DELETE FROM pgboss.job WHERE name = $1 AND singleton_key = $2', [laneQueue, singletonKey]),
    );
  });
});
