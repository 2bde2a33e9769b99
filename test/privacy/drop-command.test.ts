import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { DropCampaign, apiKey, bucketOf, hashOf, proofSeed } from '../drop/drop-campaign.ts';
import { zipOf } from '../drop/zip.ts';
import { rememberSecrets } from '../support/known-secrets.ts';
import { inletOutput, runInlet } from '../support/run-inlet.ts';
import { withDatabase } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';

const device = 'a3f1c2d4-5678-90ab-cdef-1234567890ab';

describe('inlet privacy drop', () => {
  let campaign: DropCampaign;
  let environment: Record<string, string>;

  beforeAll(async () => {
    campaign = await DropCampaign.start();
    mkdirSync(join(campaign.folder, 'received'));
    rememberSecrets(apiKey, proofSeed);
    environment = {
      ...campaign.stores.environment,
      INLET_DROP_API_KEY_FILE: campaign.writeFile('key', `${apiKey}\n`),
      INLET_DROP_URL: campaign.server.url,
      INLET_DROP_BUCKET: bucketOf(campaign.stores),
      INLET_DROP_DIRECTORY: campaign.folder,
      INLET_PROOF_KEY: proofSeed,
      INLET_LOG_LEVEL: 'error',
    };
  });
  afterAll(() => campaign.stop());

  const drop = (...parameters: string[]): Promise<string> =>
    inletOutput(environment, ['privacy', 'drop', ...parameters]);

  it('reports which settings are missing', async () => {
    const { INLET_DROP_BUCKET: _bucket, ...others } = environment;
    const { code, err } = await runInlet(others, ['privacy', 'drop', 'sync']);
    expect(code).not.toBe(0);
    expect(err).toContain('INLET_DROP_BUCKET');
    expect(await drop('status')).toContain('DROP is not in use');
  });

  it('continues a cycle after its command was killed, and produces a proof', { timeout: 300_000 }, async () => {
    expect(await drop('sync')).toBe('There is no new list.\n');
    await campaign.store([device]);
    campaign.server.add({ lists: { MAID: [{ id: 'A7kP2xQ9Lm4R', hash: hashOf(device) }] } });
    const child = spawn(process.execPath, ['bin/inlet', 'privacy', 'drop', 'sync', '--wait'], {
      env: { PATH: '/usr/bin:/bin', ...environment },
    });
    const ended = once(child, 'exit');
    await waitUntil('the command waits for the erasure', async () => (await campaign.openStep()) === 'erase');
    child.kill('SIGKILL');
    await ended;
    const { name, content } = campaign.server.supportArchive();
    const again = campaign.writeFile(join('received', name), content);
    const late = await runInlet(environment, ['privacy', 'drop', 'sync', '--archive', again]);
    expect(late.err).toContain('has read its archive');
    await withDatabase(campaign.stores, (client) => client.query('UPDATE drop_cycle SET claimed_until = NULL'));
    expect(await drop('sync')).toMatch(/^Cycle \d+ waits for workers to erase the devices/);
    await campaign.erase();
    expect(await drop('sync', '--wait')).toMatch(/^Cycle \d+ has ended. Every item is answered.\n$/);
    expect([...(campaign.server.delivered[0]?.answers ?? [])]).toEqual([['A7kP2xQ9Lm4R', ['3']]]);

    const status = await drop('status');
    expect(status).toMatch(/next fetch due +\S+ \S+ UTC, in 44 days/);
    const [, id = ''] = /^ *(\d+) +20260801_4821_DROP\.zip +done +1 +1 /m.exec(status) ?? [];
    const shown = await drop('status', id);
    expect(shown).toMatch(/answered 3 +1 items \(deleted\)/);
    expect(shown).toMatch(/20260801_4821_MAID\.csv +1 +0/);
    expect(shown).toContain('Upload received.');
    const proof = campaign.writeFile('proof.json', await drop('report', id));
    expect(verifyAsInDocs(proof, campaign)).toBe('ok: signed with the published key\nok: nothing remained\n');

    const file = campaign.writeFile('corrected.csv', 'Id,Status\nA7kP2xQ9Lm4R,2\n');
    expect(await drop('amend', id, '--file', file)).toBe('DROP accepted 20260801_4821_MAID_amend1.csv.\n');
    expect(campaign.server.delivered[0]?.answers.get('A7kP2xQ9Lm4R')).toEqual(['3', '2']);
  });

  it('uses an archive that DROP support has sent again', { timeout: 300_000 }, async () => {
    campaign.server.add({ lists: { MAID: [{ id: 'B7kP2xQ9Lm4R', hash: hashOf(device) }] } });
    campaign.server.behavior.losesResponse = () => true;
    expect(await drop('sync')).toContain('DROP cannot be reached');
    campaign.server.behavior.losesResponse = () => false;
    expect(await drop('sync')).toContain('contact DROP support');
    const { name, content } = campaign.server.supportArchive();
    const another = campaign.writeFile(join('received', 'photos.zip'), zipOf(new Map([['photo.csv', '']])));
    const refused = await runInlet(environment, ['privacy', 'drop', 'sync', '--archive', another]);
    expect(refused.err).toContain('contains a file with an unexpected name');
    expect(await drop('sync', '--archive', campaign.writeFile(join('received', name), content))).toContain('has ended');
    expect([...(campaign.server.delivered[1]?.answers ?? [])]).toEqual([['B7kP2xQ9Lm4R', ['5']]]);
    // The deadline is counted from the date of the archive.
    expect(await drop('status')).toMatch(/20260802_4821_DROP\.zip +done +1 +0 +2026-08-02 00:00 /);
  });
});

/** Runs the script from the page about privacy. */
function verifyAsInDocs(proof: string, campaign: DropCampaign): string {
  const [, script = ''] = /```ts\n(.*?)```/s.exec(readFileSync('docs/privacy.md', 'utf8')) ?? [];
  const { signature } = z
    .object({ signature: z.object({ public_key: z.string() }) })
    .parse(JSON.parse(readFileSync(proof, 'utf8')));
  const path = campaign.writeFile('verify-proof.mjs', script);
  return execFileSync(process.execPath, [path, proof, signature.public_key], { encoding: 'utf8' });
}
