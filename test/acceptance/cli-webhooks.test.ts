import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Webhook as StockVerifier } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { rememberSecrets } from '../support/known-secrets.ts';
import { type PartnerCli, installPartnerCli } from '../support/partner-cli.ts';
import { type Marketplace, startMarketplace } from '../support/start-marketplace.ts';
import { waitUntil } from '../support/wait-until.ts';
import { type WebhookReceiver, receiverSettings, startReceiver } from '../support/webhook-receiver.ts';

describe('inlet webhooks and inlet listen', () => {
  let marketplace: Marketplace;
  let cli: PartnerCli;
  let receiver: WebhookReceiver;
  let environment: Record<string, string>;

  beforeAll(async () => {
    marketplace = await startMarketplace('cli-webhooks', receiverSettings);
    receiver = await startReceiver();
    cli = await installPartnerCli();
    environment = { INLET_URL: marketplace.service.url, INLET_API_KEY: marketplace.partner.apiKey };
  });
  afterAll(async () => {
    cli.remove();
    await receiver.close();
    await marketplace.stop();
  });

  const run = (words: string) => cli.run(words.split(' '), environment);
  const out = async (words: string): Promise<string> => {
    const ran = await run(words);
    expect(ran, ran.err).toMatchObject({ code: 0 });
    return ran.out;
  };

  it('creates, lists, tests, replays, rotates, disables, enables, and deletes a webhook', async () => {
    const created = z
      .object({ webhook_id: z.int(), secret: z.string() })
      .parse(
        JSON.parse(await out(`webhooks create ${receiver.url}/cli --event import.failed --description cli --json`)),
      );
    rememberSecrets(created.secret);
    const id = created.webhook_id;
    expect(await out('webhooks list')).toMatch(
      new RegExp(`^ *${id} +enabled +0 +import\\.failed +${receiver.url}/cli`, 'm'),
    );
    expect(await run(`webhooks update ${id}`)).toMatchObject({ code: 2 });
    expect(await out(`webhooks update ${id} --event audience.deleted --url ${receiver.url}/changed`)).toMatch(
      new RegExp(`audience\\.deleted +${receiver.url}/changed +cli$`, 'm'),
    );
    expect(await out(`webhooks update ${id} --all-events`)).toMatch(/ all +http/);
    const sequence = /event (\d+) will be sent/.exec(await out(`webhooks test ${id}`))?.[1];
    await waitUntil('it has arrived', () => Promise.resolve(receiver.received.length === 1));
    await waitUntil('it is listed', async () => (await out(`webhooks deliveries ${id}`)).includes('HTTP 204'));
    expect(await out(`webhooks deliveries ${id}`)).toMatch(
      new RegExp(`^ *${sequence} +webhook\\.test +delivered +1 +HTTP 204 +-$`, 'm'),
    );
    await out(`webhooks replay ${id} --sequence ${sequence}`);
    await waitUntil('it has arrived again', () => Promise.resolve(receiver.received.length === 2));
    expect(await run(`webhooks replay ${id}`)).toMatchObject({ code: 2 });
    rememberSecrets(/whsec_\S+/.exec(await out(`webhooks rotate ${id}`))?.[0] ?? '');
    expect(await out(`webhooks disable ${id}`)).toBe(`webhook ${id} is disabled\n`);
    expect(await out(`webhooks enable ${id}`)).toBe(`webhook ${id} is enabled\n`);
    expect(await run('webhooks create https://example.com/ --event import.done')).toMatchObject({ code: 2 });
    expect(await out(`webhooks delete ${id}`)).toBe(`webhook ${id} is deleted\n`);
    expect(await out('webhooks list')).toBe('There are no webhooks.\n');
  });

  it('forwards new events to a local server until it is interrupted', async () => {
    const main = join(cli.folder, 'node_modules/@inlet/cli/main.js');
    const child = spawn(process.execPath, [main, 'listen', '--forward-to', `${receiver.url}/listen`], {
      env: { PATH: '/usr/bin:/bin', HOME: join(cli.folder, 'home'), ...environment },
    });
    const printed = { out: '', err: '' };
    child.stdout.on('data', (part: Buffer) => (printed.out += part.toString()));
    child.stderr.on('data', (part: Buffer) => (printed.err += part.toString()));
    await waitUntil('it waits', () => Promise.resolve(printed.err.includes('Waiting for events')));
    const secret = /whsec_\S+/.exec(printed.err)?.[0] ?? '';
    rememberSecrets(secret);
    const importLogId = await marketplace.api.queue({ file_path: 'missing.csv', key_type: 1 });
    await waitUntil('the event is forwarded', () => Promise.resolve(printed.out.includes('HTTP 204')));
    const event = receiver.received.find(({ path }) => path === '/listen');
    expect(new StockVerifier(secret).verify(event?.body ?? '', event?.headers ?? {})).toMatchObject({
      type: 'import.failed',
      data: { import_log_id: importLogId },
    });
    expect(printed.out).toMatch(
      new RegExp(`^\\d+ import\\.failed /v1/marketplace/import/${importLogId} → HTTP 204\n$`),
    );
    child.kill('SIGINT');
    await once(child, 'exit');
  });
});
