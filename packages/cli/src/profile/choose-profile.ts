import type { StorageSettings } from '@inlet/sdk';
import type { Environment } from '../environment.ts';
import { exitCode } from '../exit-code.ts';
import { CliFailure, wrongUse } from '../failures/cli-failure.ts';
import { didYouMean } from '../terminal/did-you-mean.ts';
import type { Profile, Profiles } from './profile.ts';

/**
 * What a command works with. The environment goes before the file. A key that is in the file is only ever sent to the
 * address that is beside it: INLET_URL asks for INLET_API_KEY too.
 */
export function chooseProfile(profiles: Profiles, wanted: string | undefined, environment: Environment): Profile {
  const url = environment['INLET_URL'];
  const apiKey = environment['INLET_API_KEY'];
  const stored = url === undefined || apiKey === undefined ? storedProfile(profiles, wanted, environment) : null;
  if (url !== undefined && apiKey === undefined) {
    throw wrongUse(
      'INLET_URL is set and INLET_API_KEY is not: a stored key is not sent to another address.',
      'Set both, or neither.',
    );
  }
  const chosen = stored ?? { url: url ?? '', apiKey: apiKey ?? '' };
  const userToken = environment['INLET_USER_TOKEN'] ?? chosen.userToken;
  const storage = storageFromEnvironment(environment) ?? chosen.storage;
  return {
    ...chosen,
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(userToken === undefined ? {} : { userToken }),
    ...(storage === undefined ? {} : { storage }),
  };
}

function storedProfile({ current, profiles }: Profiles, wanted: string | undefined, environment: Environment): Profile {
  const name = wanted ?? environment['INLET_PROFILE'] ?? current;
  const found = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (found) return found;
  const names = Object.keys(profiles);
  if (names.length === 0) throw noLogin('Nobody has logged in on this machine.');
  throw noLogin(`There is no profile "${name}".${didYouMean(name, names)}`);
}

function noLogin(detail: string): CliFailure {
  const remedy = 'Run `inlet login`, or set INLET_URL and INLET_API_KEY.';
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
