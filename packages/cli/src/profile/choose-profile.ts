import type { StorageSettings } from '@inlet/sdk';
import type { Environment } from '../environment.ts';
import { CliFailure, exitCode, wrongUse } from '../failures/cli-failure.ts';
import { didYouMean } from '../terminal/text.ts';
import type { Profile, Profiles } from './profiles-file.ts';

/**
 * Selects the login for a command. With `--profile`, only the stored profile is used. Otherwise, the environment
 * overrides the profiles file, which is read only if it is needed. A stored key is sent only to the URL that is stored
 * with it, so INLET_URL requires INLET_API_KEY.
 */
export async function chooseProfile(
  readStored: () => Promise<Profiles>,
  named: string | undefined,
  environment: Environment,
): Promise<Profile> {
  if (named !== undefined) return withUserToken(storedProfile(await readStored(), named), environment);
  const url = environment['INLET_URL'];
  const apiKey = environment['INLET_API_KEY'];
  if (url !== undefined && apiKey === undefined) {
    throw wrongUse(
      'INLET_URL is set without INLET_API_KEY. A stored key is never sent to another URL.',
      'Set both or neither.',
    );
  }
  const chosen =
    url === undefined || apiKey === undefined
      ? storedProfile(await readStored(), environment['INLET_PROFILE'])
      : { url, apiKey };
  const storage = storageFromEnvironment(environment);
  return withUserToken(
    { ...chosen, ...(apiKey === undefined ? {} : { apiKey }), ...(storage === undefined ? {} : { storage }) },
    environment,
  );
}

/** The user token in the environment selects the customer. It is not part of a login and applies to every login. */
function withUserToken(profile: Profile, environment: Environment): Profile {
  const userToken = environment['INLET_USER_TOKEN'];
  return userToken === undefined ? profile : { ...profile, userToken };
}

function storedProfile({ current, profiles }: Profiles, wanted: string = current): Profile {
  const found = Object.hasOwn(profiles, wanted) ? profiles[wanted] : undefined;
  if (found) return found;
  const names = Object.keys(profiles);
  if (names.length === 0) throw noLogin('You are not logged in.');
  throw noLogin(`Profile "${wanted}" does not exist.${didYouMean(wanted, names)}`);
}

function noLogin(detail: string): CliFailure {
  const remedy = 'Run `inlet login`, or set INLET_URL and INLET_API_KEY and omit --profile.';
  return new CliFailure({ code: 'no_login', detail, remedy, exitCode: exitCode.notAllowed });
}

const storageVariables = {
  region: 'INLET_STORAGE_REGION',
  bucket: 'INLET_STORAGE_BUCKET',
  prefix: 'INLET_STORAGE_PREFIX',
  accessKeyId: 'INLET_STORAGE_ACCESS_KEY_ID',
  secretAccessKey: 'INLET_STORAGE_SECRET_ACCESS_KEY',
} as const;

/** Uses either all variables or none, so that the settings of two storages are never mixed. */
function storageFromEnvironment(environment: Environment): StorageSettings | undefined {
  const { region, bucket, prefix, accessKeyId, secretAccessKey } = storageVariables;
  const missing = Object.values(storageVariables).filter((name) => environment[name] === undefined);
  if (missing.length === Object.keys(storageVariables).length) return undefined;
  if (missing.length > 0) {
    throw wrongUse(
      'Only some of the storage variables are set.',
      `Also set ${missing.join(', ')}, or unset all of them.`,
    );
  }
  const endpoint = environment['INLET_STORAGE_ENDPOINT'];
  return {
    ...(endpoint === undefined ? {} : { endpoint }),
    region: environment[region] ?? '',
    bucket: environment[bucket] ?? '',
    prefix: environment[prefix] ?? '',
    accessKeyId: environment[accessKeyId] ?? '',
    secretAccessKey: environment[secretAccessKey] ?? '',
  };
}
