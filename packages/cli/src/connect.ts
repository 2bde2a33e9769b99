import type { Answered, Attribute, Inlet } from '@inlet/sdk';
import type { LoginOptions } from './command.ts';
import { readEnvironment } from './environment.ts';
import { valueOf } from './failures/api-errors.ts';
import { wrongUse } from './failures/cli-failure.ts';
import { chooseProfile } from './profile/choose-profile.ts';
import { type Profile, readProfiles, settingsPath } from './profile/profiles-file.ts';

/** Reads the login selected by `--profile`, the environment, and the profiles file. */
export async function readProfile({ profile }: LoginOptions): Promise<Profile> {
  const environment = readEnvironment();
  return chooseProfile(() => readProfiles(settingsPath(environment)), profile, environment);
}

/** Creates the client for a command. Loads the SDK on demand, because `--help` does not need it. */
export async function connect(options: LoginOptions): Promise<Inlet> {
  return clientOf(await readProfile(options));
}

export async function clientOf(profile: Profile): Promise<Inlet> {
  const sdk = await import('@inlet/sdk');
  try {
    return new sdk.Inlet(profile);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const remedy = 'Use an https URL. To allow http for this login, run `inlet login --allow-http`.';
    if (error.message.startsWith('url must use https;')) {
      throw wrongUse('The URL is not https, so the API key would be sent unencrypted.', remedy);
    }
    if (error.message.startsWith('storage.endpoint must use https;')) {
      throw wrongUse('The storage endpoint is not https, so files would be sent unencrypted.', remedy);
    }
    // The SDK's message contains the name of the setting but never its value.
    throw wrongUse(`The login is not valid: ${error.message}.`, 'Run `inlet login` again, or correct the environment.');
  }
}

/** Reads all pages of the attribute list. */
export async function allAttributes(inlet: Inlet): Promise<Attribute[]> {
  return allOf(({ query }) => inlet.listAttributes({ query }));
}

type Ask<T> = (page: { readonly query: Readonly<Record<string, string>> }) => Promise<Answered<readonly T[]>>;

/** Reads all pages of a list. */
export async function allOf<T>(ask: Ask<T>): Promise<T[]> {
  const { each } = await import('@inlet/sdk');
  const entries: T[] = [];
  for await (const entry of each(ask)) entries.push(valueOf(entry));
  return entries;
}
