import type { StorageSettings } from '@inlet/sdk';
import type { Environment } from '../environment.ts';
import { CliFailure, exitCode, wrongUse } from '../failures/cli-failure.ts';
import { didYouMean } from '../terminal/text.ts';
import type { Profile, Profiles } from './profiles-file.ts';

/**
 * What a command works with. A profile that is named with `--profile` is used as it is kept: nothing of another login is
 * mixed in. Else the environment goes before the file, and the file is not read where it is not needed. A key that is in
 * the file is only ever sent to the address that is beside it: INLET_URL asks for INLET_API_KEY too.
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
      'INLET_URL is set and INLET_API_KEY is not: a stored key is not sent to another address.',
      'Set both, or neither.',
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

/** It says for whom a command acts, and is no part of a login: it counts with each of them. */
function withUserToken(profile: Profile, environment: Environment): Profile {
  const userToken = environment['INLET_USER_TOKEN'];
  return userToken === undefined ? profile : { ...profile, userToken };
}

function storedProfile({ current, profiles }: Profiles, wanted: string = current): Profile {
  const found = Object.hasOwn(profiles, wanted) ? profiles[wanted] : undefined;
  if (found) return found;
  const names = Object.keys(profiles);
  if (names.length === 0) throw noLogin('Nobody has logged in on this machine.');
  throw noLogin(`There is no profile "${wanted}".${didYouMean(wanted, names)}`);
}

function noLogin(detail: string): CliFailure {
  const remedy = 'Run `inlet login`; or set INLET_URL and INLET_API_KEY, and leave out --profile.';
  return new CliFailure({ code: 'no_login', detail, remedy, exitCode: exitCode.notAllowed });
}

const storageVariables = {
  region: 'INLET_STORAGE_REGION',
  bucket: 'INLET_STORAGE_BUCKET',
  prefix: 'INLET_STORAGE_PREFIX',
  accessKeyId: 'INLET_STORAGE_ACCESS_KEY_ID',
  secretAccessKey: 'INLET_STORAGE_SECRET_ACCESS_KEY',
} as const;

/** All of it or none: half of one storage and half of another is neither. */
function storageFromEnvironment(environment: Environment): StorageSettings | undefined {
  const { region, bucket, prefix, accessKeyId, secretAccessKey } = storageVariables;
  const missing = Object.values(storageVariables).filter((name) => environment[name] === undefined);
  if (missing.length === Object.keys(storageVariables).length) return undefined;
  if (missing.length > 0) {
    throw wrongUse('Only some of the variables of the storage are set.', `Set ${missing.join(', ')} as well, or none.`);
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
