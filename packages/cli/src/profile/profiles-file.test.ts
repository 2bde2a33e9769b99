import { chmod, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readProfiles, settingsPath, writeProfiles } from './profiles-file.ts';

let folder = '';
let path = '';
const profiles = { current: 'default', profiles: { default: { url: 'https://inlet.example', apiKey: 'very-secret' } } };

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'inlet-settings-'));
  path = join(folder, 'inlet', 'profiles.json');
});
afterEach(() => rm(folder, { recursive: true }));

describe('settingsPath', () => {
  it.each([
    [{ XDG_CONFIG_HOME: '/etc/xdg' }, '/etc/xdg/inlet/profiles.json'],
    [{ XDG_CONFIG_HOME: 'relative' }, join(homedir(), '.config/inlet/profiles.json')],
    [{}, join(homedir(), '.config/inlet/profiles.json')],
  ])('with the environment %j, the path is %s', (environment, expected) => {
    expect(settingsPath(environment)).toBe(expected);
  });
});

describe('the profiles file', () => {
  it('makes the file readable only by its owner, regardless of the umask', async () => {
    const before = process.umask(0);
    try {
      await writeProfiles(path, profiles);
      await writeProfiles(path, profiles);
    } finally {
      process.umask(before);
    }
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(join(folder, 'inlet'))).mode & 0o777).toBe(0o700);
    expect(await readProfiles(path)).toEqual(profiles);
    expect(await readdir(join(folder, 'inlet'))).toEqual(['profiles.json']);
  });

  it('returns no profiles before the first login', async () => {
    expect(await readProfiles(path)).toEqual({ current: 'default', profiles: {} });
  });

  it.each([0o640, 0o604, 0o622, 0o660])('rejects a profiles file with mode %o', async (mode) => {
    await writeProfiles(path, profiles);
    await chmod(path, mode);
    const reading = readProfiles(path);
    await expect(reading).rejects.toThrow('settings_not_private');
    await expect(reading).rejects.toMatchObject({ details: { exitCode: 3 } });
    await expect(reading).rejects.not.toThrow('very-secret');
  });

  it.each([
    '{"current": "default"',
    '[]',
    '{"current": "a", "profiles": {"a": {"url": "x"}}}',
    '{"current": "a", "profiles": {"a": {"url": "x", "apiKey": "very-secret", "storage": {"bucket": "b"}}}}',
  ])('rejects a profiles file that contains %s and leaves it unchanged', async (text) => {
    await writeProfiles(path, profiles);
    await writeFile(path, text);
    const reading = readProfiles(path);
    await expect(reading).rejects.toThrow('settings_unreadable');
    await expect(reading).rejects.not.toThrow('very-secret');
    expect(await readFile(path, 'utf8')).toBe(text);
  });

  it('reports the path of an unusable folder and suggests XDG_CONFIG_HOME', async () => {
    await writeFile(join(folder, 'inlet'), 'a file where the folder should be');
    const remedy = 'Check the permissions of the folder with ls -ld, or set XDG_CONFIG_HOME to another folder.';
    const reading = readProfiles(path);
    await expect(reading).rejects.toThrow(`unreadable_file: ${path} cannot be read: `);
    await expect(reading).rejects.toMatchObject({ details: { exitCode: 1, remedy } });
    const writing = writeProfiles(path, profiles);
    await expect(writing).rejects.toThrow(`unwritable_file: ${path} cannot be written: `);
    await expect(writing).rejects.toMatchObject({ details: { exitCode: 1, remedy } });
  });
});
