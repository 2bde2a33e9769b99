import type { Attribute, Inlet } from '@inlet/sdk';
import type { LoginOptions } from './command.ts';
import { readEnvironment } from './environment.ts';
import { valueOf } from './failures/api-errors.ts';
import { wrongUse } from './failures/cli-failure.ts';
import { chooseProfile } from './profile/choose-profile.ts';
import { type Profile, readProfiles, settingsPath } from './profile/profiles-file.ts';

/** What was chosen by `--profile`, the environment and the settings file. */
export async function readProfile({ profile }: LoginOptions): Promise<Profile> {
  const environment = readEnvironment();
  return chooseProfile(() => readProfiles(settingsPath(environment)), profile, environment);
}

/** The client of a command. The SDK is loaded here and not before: `--help` does not need it. */
export async function connect(options: LoginOptions): Promise<Inlet> {
  return clientOf(await readProfile(options));
}

export async function clientOf(profile: Profile): Promise<Inlet> {
  const sdk = await import('@inlet/sdk');
  try {
    return new sdk.Inlet(profile);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const remedy = 'Give an https address; `inlet login --allow-http` takes this one as it is, and keeps it so.';
    if (error.message.startsWith('url must be https,')) {
      throw wrongUse('The address is not https: the key could be read on the way.', remedy);
    }
    if (error.message.startsWith('storage.endpoint must be https,')) {
      throw wrongUse('The address of the storage is not https: files could be read on the way.', remedy);
    }
    // The SDK names the setting, never its value.
    throw wrongUse(`The login cannot be used: ${error.message}.`, 'Run `inlet login` again, or mend the environment.');
  }
}

/** Page after page: a partner may have more than one of them has. */
export async function allAttributes(inlet: Inlet): Promise<Attribute[]> {
  const { each } = await import('@inlet/sdk');
  const attributes: Attribute[] = [];
  for await (const attribute of each(({ query }) => inlet.listAttributes({ query }))) {
    attributes.push(valueOf(attribute));
  }
  return attributes;
}
