import { describe, expect, it } from 'vitest';
import type { Environment } from '../environment.ts';
import { chooseProfile } from './choose-profile.ts';
import { type Profile, type Profiles, isProfileName } from './profiles-file.ts';

const storage = { region: 'r', bucket: 'b', prefix: 'p/', accessKeyId: 'i', secretAccessKey: 's' };
const live = { url: 'https://live.example', apiKey: 'live-key', userToken: 'anna', storage };
const staging = { url: 'https://staging.example', apiKey: 'staging-key' };
const storageVariables = {
  INLET_STORAGE_REGION: 'R',
  INLET_STORAGE_BUCKET: 'B',
  INLET_STORAGE_PREFIX: 'P/',
  INLET_STORAGE_ACCESS_KEY_ID: 'I',
  INLET_STORAGE_SECRET_ACCESS_KEY: 'S',
};
const profiles = { current: 'live', profiles: { live, staging } };
const none = { current: 'default', profiles: {} };

const choose = (stored: Profiles, named: string | undefined, environment: Environment): Promise<Profile> =>
  chooseProfile(() => Promise.resolve(stored), named, environment);

describe('chooseProfile', () => {
  it('uses the current profile unless INLET_PROFILE or --profile names another', async () => {
    expect(await choose(profiles, undefined, {})).toEqual(live);
    expect(await choose(profiles, undefined, { INLET_PROFILE: 'staging' })).toEqual(staging);
    expect(await choose(profiles, 'live', { INLET_PROFILE: 'staging' })).toEqual(live);
  });

  it('does not read the profiles file if the environment contains a complete login', async () => {
    const environment = { INLET_URL: 'https://ci.example', INLET_API_KEY: 'ci-key' };
    const ci = { url: 'https://ci.example', apiKey: 'ci-key' };
    const unreadable = (): Promise<Profiles> => Promise.reject(new Error('mode 644'));
    expect(await chooseProfile(unreadable, undefined, environment)).toEqual(ci);
    // INLET_PROFILE does not apply to a login from the environment.
    expect(await choose(profiles, undefined, { ...environment, INLET_PROFILE: 'staging' })).toEqual(ci);
  });

  it('ignores credentials in the environment if a profile is named', async () => {
    const production = {
      INLET_URL: 'https://production.example',
      INLET_API_KEY: 'production-key',
      ...storageVariables,
    };
    expect(await choose(profiles, 'staging', production)).toEqual(staging);
    expect(await choose(profiles, 'staging', { INLET_API_KEY: 'production-key' })).toEqual(staging);
    expect(await choose(profiles, 'live', production)).toEqual(live);
    await expect(choose(none, 'staging', production)).rejects.toThrow('You are not logged in');
  });

  it('accepts a different key for the stored URL, but never sends a stored key to a different URL', async () => {
    const environment = { INLET_PROFILE: 'staging', INLET_API_KEY: 'other' };
    expect(await choose(profiles, undefined, environment)).toEqual({ ...staging, apiKey: 'other' });
    const elsewhere = choose(profiles, undefined, { INLET_URL: 'https://evil.example' });
    await expect(elsewhere).rejects.toThrow('A stored key is never sent to another URL');
  });

  it('uses a user token from the environment', async () => {
    const environment = { INLET_USER_TOKEN: 'bert' };
    expect(await choose(profiles, undefined, environment)).toEqual({ ...live, userToken: 'bert' });
    expect(await choose(profiles, 'staging', environment)).toEqual({ ...staging, userToken: 'bert' });
  });

  it('requires either all storage variables or none', async () => {
    const chosen = { region: 'R', bucket: 'B', prefix: 'P/', accessKeyId: 'I', secretAccessKey: 'S' };
    expect(await choose(profiles, undefined, storageVariables)).toEqual({ ...live, storage: chosen });
    const { INLET_STORAGE_SECRET_ACCESS_KEY: _left, ...some } = storageVariables;
    await expect(choose(profiles, undefined, some)).rejects.toThrow('Only some of the storage variables');
  });

  it.each([
    [none, undefined, 'You are not logged in'],
    [profiles, 'stagin', 'Profile "stagin" does not exist. Did you mean "staging"?'],
    [profiles, 'constructor', 'Profile "constructor" does not exist.'],
  ])('reports a missing login (case %#)', async (given, named, message) => {
    const choosing = choose(given, named, {});
    await expect(choosing).rejects.toThrow(message);
    await expect(choosing).rejects.toThrow('no_login: ');
  });
});

describe('a profile name', () => {
  it.each(['default', 'acme.eu-1', 'A_b'])('accepts the profile name %s', (name) =>
    expect(isProfileName(name)).toBe(true),
  );
  it.each(['', '-x', 'a b', '../x', '__proto__', 'constructor', 'x'.repeat(65)])(
    'rejects the profile name %j',
    (name) => expect(isProfileName(name)).toBe(false),
  );
});
