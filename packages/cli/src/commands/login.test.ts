import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type ScriptedServer, sendJson, startScriptedServer } from '../../../../test/support/scripted-server.ts';
import { createProgram } from '../cli.ts';
import { keepProfile } from '../profile/profiles-file.ts';

// Runs the command against a test server. cli-terminal.test.ts tests it on a terminal.

let folder = '';
let path = '';
let server: ScriptedServer;
/** Called while the command verifies the login. */
let meanwhile: () => Promise<void>;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'inlet-login-'));
  path = join(folder, 'inlet', 'profiles.json');
  meanwhile = () => Promise.resolve();
  server = await startScriptedServer((response) => void meanwhile().then(() => sendJson(response, 200, {})));
  vi.stubEnv('XDG_CONFIG_HOME', folder);
  for (const name of ['INLET_URL', 'INLET_API_KEY', 'INLET_PROFILE', 'INLET_USER_TOKEN']) vi.stubEnv(name, '');
});
afterEach(async () => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  await server.close();
  await rm(folder, { recursive: true });
});

const run = async (...words: string[]): Promise<{ out: string; stderr: string }> => {
  const written = { out: '', stderr: '' };
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => ((written.out += String(text)), true));
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => ((written.stderr += String(text)), true));
  await createProgram().parseAsync(words, { from: 'user' });
  vi.restoreAllMocks();
  return written;
};
const issued = async (content: object): Promise<string> => {
  await writeFile(join(folder, 'issued.json'), JSON.stringify(content));
  return join(folder, 'issued.json');
};
const kept = async (): Promise<unknown> => JSON.parse(await readFile(path, 'utf8'));

describe('inlet login', () => {
  it('keeps a login that another process saves at the same time', async () => {
    const other = { url: 'https://other.example', apiKey: 'other-key' };
    meanwhile = () => keepProfile(path, 'other', other);
    await run('login', '--url', server.url, '--from', await issued({ api_key: 'new-key' }));
    const profiles = { other, default: { url: server.url, apiKey: 'new-key' } };
    expect(await kept()).toEqual({ current: 'default', profiles });
  });

  it('prints a note that INLET_USER_TOKEN is not saved', async () => {
    vi.stubEnv('INLET_USER_TOKEN', 'anna');
    const from = await issued({ api_key: 'new-key' });
    const { stderr } = await run('login', '--url', server.url, '--from', from);
    expect(stderr).toContain('INLET_USER_TOKEN is not saved');
    expect(await kept()).toMatchObject({ profiles: { default: { url: server.url, apiKey: 'new-key' } } });
    expect(JSON.stringify(await kept())).not.toContain('anna');
  });

  it('saves an issued user token and lists it in the profile', async () => {
    const from = await issued({ api_key: 'new-key', user_token: 'bert' });
    const { out } = await run('login', '--url', server.url, '--from', from);
    expect(out).toContain('Audiences: the audiences of the customer with the saved user token.');
    expect(await kept()).toMatchObject({ profiles: { default: { userToken: 'bert' } } });
    await keepProfile(path, 'plain', { url: 'https://other.example', apiKey: 'other-key' });
    const listed = await run('profiles');
    expect(listed.out).toMatch(/^default .* yes$/m);
    expect(listed.out).toMatch(/^plain .* no$/m);
    expect(listed.out).not.toContain('bert');
  });

  it('ignores storage variables if the operator sent storage credentials', async () => {
    vi.stubEnv('INLET_STORAGE_ENDPOINT', 'https://other-storage.example');
    vi.stubEnv('INLET_STORAGE_SECRET_ACCESS_KEY', 'other-secret');
    const sent = { region: 'r', bucket: 'b', prefix: 'p/', access_key_id: 'i', secret_access_key: 's' };
    const from = await issued({ api_key: 'new-key', storage: sent });
    await run('login', '--url', server.url, '--from', from);
    const storage = { region: 'r', bucket: 'b', prefix: 'p/', accessKeyId: 'i', secretAccessKey: 's' };
    expect(await kept()).toMatchObject({ profiles: { default: { storage } } });
    expect(JSON.stringify(await kept())).not.toContain('other');
    // The command prompts for a missing value instead of reading it from the environment.
    const { secret_access_key: _left, ...half } = sent;
    const login = run('login', '--url', server.url, '--from', await issued({ api_key: 'new-key', storage: half }));
    await expect(login).rejects.toThrow('missing_answer: Secret access key is required');
  });

  it('uses the profile name in INLET_PROFILE unless --profile is passed', async () => {
    vi.stubEnv('INLET_PROFILE', 'staging');
    const from = await issued({ api_key: 'new-key' });
    await run('login', '--url', server.url, '--from', from);
    expect(await kept()).toMatchObject({ current: 'staging', profiles: { staging: { apiKey: 'new-key' } } });
    await run('login', '--url', server.url, '--from', from, '--profile', 'live');
    expect(await kept()).toMatchObject({ current: 'live', profiles: { staging: {}, live: {} } });
  });
});
