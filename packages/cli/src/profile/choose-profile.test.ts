import { describe, expect, it } from 'vitest';
import { chooseProfile } from './choose-profile.ts';
import { isProfileName } from './profile.ts';

const storage = { region: 'r', bucket: 'b', prefix: 'p/', accessKeyId: 'i', secretAccessKey: 's' };
const live = { url: 'https://live.example', apiKey: 'live-key', userToken: 'anna', storage };
const staging = { url: 'https://staging.example', apiKey: 'staging-key' };
const profiles = { current: 'live', profiles: { live, staging } };
const none = { current: 'default', profiles: {} };

describe('the login of a command', () => {
  it('is the last one, the one of the environment, or the one that is named', () => {
    expect(chooseProfile(profiles, undefined, {})).toEqual(live);
    expect(chooseProfile(profiles, undefined, { INLET_PROFILE: 'staging' })).toEqual(staging);
    expect(chooseProfile(profiles, 'live', { INLET_PROFILE: 'staging' })).toEqual(live);
  });

  it('can come from the environment alone', () => {
    const environment = { INLET_URL: 'https://ci.example', INLET_API_KEY: 'ci-key' };
    expect(chooseProfile(none, undefined, environment)).toEqual({ url: 'https://ci.example', apiKey: 'ci-key' });
    // Nothing of a stored login goes along.
    expect(chooseProfile(profiles, undefined, environment)).toEqual({ url: 'https://ci.example', apiKey: 'ci-key' });
  });

  it('takes another key to the stored address, and never a stored key to another address', () => {
    expect(chooseProfile(profiles, 'staging', { INLET_API_KEY: 'other' })).toEqual({ ...staging, apiKey: 'other' });
    const choose = (): unknown => chooseProfile(profiles, undefined, { INLET_URL: 'https://evil.example' });
    expect(choose).toThrow('a stored key is not sent to another address');
  });

  it('takes a user token from the environment', () => {
    expect(chooseProfile(profiles, undefined, { INLET_USER_TOKEN: 'bert' })).toMatchObject({ userToken: 'bert' });
  });

  it('takes a storage from the environment whole or not at all', () => {
    const environment = {
      INLET_STORAGE_REGION: 'R',
      INLET_STORAGE_BUCKET: 'B',
      INLET_STORAGE_PREFIX: 'P/',
      INLET_STORAGE_ACCESS_KEY_ID: 'I',
      INLET_STORAGE_SECRET_ACCESS_KEY: 'S',
    };
    const chosen = { region: 'R', bucket: 'B', prefix: 'P/', accessKeyId: 'I', secretAccessKey: 'S' };
    expect(chooseProfile(profiles, undefined, environment).storage).toEqual(chosen);
    const { INLET_STORAGE_SECRET_ACCESS_KEY: _left, ...some } = environment;
    expect(() => chooseProfile(profiles, undefined, some)).toThrow('Only some of the variables of the storage');
  });

  it.each([
    [none, undefined, 'Nobody has logged in'],
    [profiles, 'stagin', 'There is no profile "stagin". Did you mean "staging"?'],
    [profiles, 'constructor', 'There is no profile "constructor".'],
  ])('that is not there is told: %#', (given, wanted, message) => {
    const choose = (): unknown => chooseProfile(given, wanted, {});
    expect(choose).toThrow(message);
    expect(choose).toThrow('no_login: ');
  });
});

describe('the name of a profile', () => {
  it.each(['default', 'acme.eu-1', 'A_b'])('can be %s', (name) => expect(isProfileName(name)).toBe(true));
  it.each(['', '-x', 'a b', '../x', '__proto__', 'constructor', 'x'.repeat(65)])('cannot be %j', (name) =>
    expect(isProfileName(name)).toBe(false),
  );
});
