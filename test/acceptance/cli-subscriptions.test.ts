import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { device } from '../support/device-id.ts';
import { type PartnerCli, installPartnerCli } from '../support/partner-cli.ts';
import { type Marketplace, startMarketplace } from '../support/start-marketplace.ts';
import { waitUntil } from '../support/wait-until.ts';

describe('inlet subscriptions', () => {
  let marketplace: Marketplace;
  let cli: PartnerCli;
  let environment: Record<string, string>;

  beforeAll(async () => {
    marketplace = await startMarketplace('cli-subscriptions', { INLET_SUBSCRIPTION_SECONDS: '1' });
    await marketplace.partner.createAttribute('sport', 'sport');
    cli = await installPartnerCli();
    environment = { INLET_URL: marketplace.service.url, INLET_API_KEY: marketplace.partner.apiKey };
  });
  afterAll(async () => {
    cli.remove();
    await marketplace.stop();
  });

  const run = (words: string) => cli.run(words.split(' '), environment);
  const out = async (words: string): Promise<string> => {
    const ran = await run(words);
    expect(ran, ran.err).toMatchObject({ code: 0 });
    return ran.out;
  };

  it('creates, lists, shows, pauses, resumes, and deletes a subscription', async () => {
    const created = await out('subscriptions create in/ --key-type foreign --no-compressed --quiet-seconds 0 --json');
    const { subscription_id: id } = z.object({ subscription_id: z.int() }).parse(JSON.parse(created));
    await marketplace.partner.upload('in/1.csv', `${device(1)},sport\n`);
    await waitUntil('it is imported', async () => (await out(`subscriptions show ${id}`)).includes('imported'));
    expect(await out('subscriptions list')).toMatch(new RegExp(`^ *${id} +active +in/ +immediately +0 +- +\\d+$`, 'm'));
    expect(await out(`subscriptions show ${id} --state imported`)).toMatch(/^in\/1\.csv +\d+ B .* imported +\d+ +-$/m);
    expect(await out(`subscriptions show ${id} --state failed`)).toContain('No files have arrived.');
    expect(await out(`subscriptions pause ${id}`)).toBe(`subscription ${id} is paused\n`);
    expect(await out(`subscriptions resume ${id}`)).toBe(`subscription ${id} is active\n`);
    expect(await out(`subscriptions update ${id} --daily-at 02:30`)).toBe(
      `subscription ${id} imports daily at 02:30 UTC\n`,
    );
    expect(await out(`subscriptions delete ${id}`)).toBe(`subscription ${id} is deleted\n`);
    expect(await out('subscriptions list')).toBe('There are no subscriptions.\n');
    expect(await run(`subscriptions show ${id}`)).toMatchObject({ code: 1 });
  });

  it('rejects invalid options before it calls the service', async () => {
    for (const options of [
      'create in/ --key-type foreign',
      'create in/ --key-type foreign --compressed --quiet-seconds 5 --marker x',
      'create in/ --key-type foreign --compressed --every 59',
      'pause x',
      'update 1',
      'update 1 --every 60 --daily-at 02:30',
    ])
      expect(await run(`subscriptions ${options}`), options).toMatchObject({ code: 2 });
  });
});
