import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { device } from '../support/device-id.ts';
import { controlC, enter, installPartnerCli, type PartnerCli, type Step } from '../support/partner-cli.ts';
import { startProxy, type Proxy } from '../support/proxy.ts';
import { stopProcess } from '../support/running-service.ts';
import { startMarketplace, type Marketplace } from '../support/start-marketplace.ts';
import { readAddresses } from '../../stack/addresses.ts';

// Tests the partner CLI in a 100-column terminal.

const type = (sees: string, answer: string): Step => ({ sees, types: `${answer}${enter}` });

describe('inlet in a terminal', () => {
  let marketplace: Marketplace;
  let storage: Proxy;
  let cli: PartnerCli;
  let environment: Record<string, string>;

  beforeAll(async () => {
    storage = await startProxy(readAddresses().s3.endpoint);
    marketplace = await startMarketplace('cli-terminal', { INLET_S3_ENDPOINT: storage.address });
    const { partner, service } = marketplace;
    await partner.createAttribute('sports', 'sports');
    const rows = Array.from({ length: 500_000 }, (_, n) => `${device(n)},sports\n`).join('');
    await partner.upload('good/1.csv', rows);
    await partner.upload('bad.csv', `${device(1)},sports\nnot-an-id,sports\n`);
    await partner.upload('members.csv', `${device(1)},click\n`);
    cli = await installPartnerCli();
    environment = { INLET_URL: service.url, INLET_API_KEY: partner.apiKey };
  });
  afterAll(async () => {
    cli.remove();
    await marketplace.stop();
    await storage.close();
  });

  afterEach(() => storage.make({ is: 'none' }));

  const show = async (words: string, steps: readonly Step[] = [], more: Record<string, string> = {}) => {
    const { code, shown } = await cli.onTerminal(words.split(' '), steps, { ...environment, ...more });
    return { code, raw: shown, text: stripVTControlCharacters(shown).replaceAll('\r', '') };
  };

  it('prompts for credentials at login, echoes no key, and makes the saved file readable only by its owner', async () => {
    const { partner, service } = marketplace;
    const { accessKeyId, secretAccessKey } = partner.storageKeys;
    const nothing = { INLET_URL: '', INLET_API_KEY: '' };
    const { code, raw, text } = await show(
      'login',
      [
        type('Inlet URL: ', service.url),
        type('API key: ', partner.apiKey),
        type('Your bucket (leave empty to skip uploads): ', partner.bucket),
        type('Prefix: ', partner.prefix),
        type('Region: ', 'default'),
        type('Storage endpoint (leave empty for AWS): ', 'http://127.0.0.1:9'),
        type('Access key ID: ', accessKeyId),
        type('Secret access key: ', secretAccessKey),
      ],
      nothing,
    );
    expect(text).toContain('as profile "default"');
    expect(code).toBe(0);
    expect(raw).not.toContain(partner.apiKey);
    expect(raw).not.toContain(secretAccessKey);
    const kept: unknown = JSON.parse(readFileSync(join(cli.folder, 'home/.config/inlet/profiles.json'), 'utf8'));
    const keptStorage = { bucket: partner.bucket, prefix: partner.prefix, accessKeyId, secretAccessKey };
    expect(kept).toMatchObject({ profiles: { default: { apiKey: partner.apiKey, storage: keptStorage } } });
    expect(await show('limits', [], nothing)).toMatchObject({ code: 0 });
  });

  it('rejects a wrong key at login before the next prompt and saves nothing', async () => {
    const home = { HOME: join(cli.folder, 'no-home') };
    const steps = [type('API key: ', 'wrong-but-secret')];
    const { code, raw, text } = await show('login', steps, { ...home, INLET_API_KEY: '' });
    expect(code).toBe(3);
    expect(text).toContain('error: unauthenticated: ');
    expect(raw).not.toContain('wrong-but-secret');
    expect(existsSync(home.HOME)).toBe(false);
  });

  it('prompts for missing values of an import, redraws its progress, and shows the outcome', async () => {
    // The download would take many minutes, but the test stops it when the progress bar appears.
    storage.make({ is: 'slow', bytesPerSecond: 20_000 });
    const goOn = async (): Promise<void> => Promise.resolve(storage.make({ is: 'none' }));
    const { code, raw, text } = await show('import good/ --watch', [
      type('attribute or foreign', 'foreign'),
      type('gzip-compressed (yes or no)', 'no'),
      { sees: '░', types: '', before: goOn },
    ]);
    expect(code).toBe(0);
    expect(raw).toContain('\x1b[1A\x1b[0J');
    expect(text).toMatch(/import \d+ {2}█*░+ +\d+ % {2}[\d,]+ rows?/);
    expect(text).toMatch(/import \d+: done, 500,000 rows, 500,000 devices\n$/);
  });

  it('prints tables that fit the terminal and contain the same text with and without color', async () => {
    await show('import bad.csv --key-type foreign --watch');
    const painted = await show('imports');
    expect(painted.raw).toContain('\x1b[32mdone\x1b[39m');
    expect(Math.max(...painted.text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100);
    const plain = await show('imports', [], { NO_COLOR: '1' });
    expect(plain.raw).not.toContain('\x1b');
    expect(plain.text).toBe(painted.text);
    const watched = await show('imports --watch');
    expect(watched.text.endsWith(plain.text)).toBe(true);
  });

  it('asks for confirmation of a destructive command and changes nothing unless the answer is yes', async () => {
    await show('audience create Summer members.csv --watch');
    const question = 'This removes all devices from audience 1. Continue? [y/N] ';
    for (const answer of ['', 'n', 'what']) {
      const declined = await show('audience clear 1', [type(question, answer)]);
      expect([declined.code, declined.text]).toEqual([130, expect.stringContaining('declined: Nothing was cleared.')]);
    }
    expect((await show('audience show 1')).text).toMatch(/^devices +1$/m);
    expect(await show('audience clear 1', [type(question, 'y')])).toMatchObject({ code: 0 });
    expect((await show('audience show 1')).text).toMatch(/^devices +0$/m);
    const deletion = await show('delete-attributes sports --key-type foreign', [
      { sees: 'This permanently deletes all data for 1 attribute (sports). Continue? [y/N] ', types: controlC },
    ]);
    expect([deletion.code, deletion.text]).toEqual([130, expect.stringContaining('interrupted: Nothing was changed.')]);
    expect((await show('imports')).text).not.toContain('delete');
  });

  it('leaves a watched job running after Ctrl-C and reports an unavailable service', async () => {
    await stopProcess(marketplace.service.worker);
    const { code, text } = await show('import bad.csv --key-type foreign --watch', [
      { sees: 'pending, next', types: controlC },
    ]);
    expect(code).toBe(130);
    expect(text).toMatch(/interrupted: import (\d+) continues. Follow it with: inlet imports \1 --watch\n$/);
    const list = await show('imports --watch', [{ sees: 'pending', types: controlC }]);
    expect([list.code, list.text]).toEqual([130, expect.stringContaining('interrupted: The jobs continue.')]);
    await stopProcess(marketplace.service.api);
    const unreachable = await show('limits');
    expect([unreachable.code, unreachable.text]).toEqual([4, expect.stringContaining('network_failed')]);
  });
});
