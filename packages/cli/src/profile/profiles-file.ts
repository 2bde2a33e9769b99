import type { InletSettings } from '@inlet/sdk';
import { randomUUID } from 'node:crypto';
import { chmod, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Environment, xdgFolder } from '../environment.ts';
import { CliFailure, exitCode } from '../failures/cli-failure.ts';
import { pathFailure, systemCodeOf } from '../failures/path-errors.ts';

/** One login, which consists of the stored SDK settings. */
export type Profile = Pick<InletSettings, 'url' | 'apiKey' | 'userToken' | 'storage' | 'allowHttp'>;

/** All logins of a user on this machine. */
export type Profiles = { readonly current: string; readonly profiles: Readonly<Record<string, Profile>> };

export const noProfiles: Profiles = { current: 'default', profiles: {} };

export function isProfileName(name: string): boolean {
  return /^[a-zA-Z0-9][a-zA-Z0-9._-]{0,63}$/.test(name) && !Object.hasOwn(Object.prototype, name);
}

const anotherFolder = 'Check the permissions of the folder with ls -ld, or set XDG_CONFIG_HOME to another folder.';

export function settingsPath(environment: Environment): string {
  return join(xdgFolder(environment, 'XDG_CONFIG_HOME'), 'profiles.json');
}

/** Like ssh, rejects a file that other users can read, because it contains keys. */
export async function readProfiles(path: string): Promise<Profiles> {
  let text: string;
  try {
    const { mode } = await stat(path);
    if ((mode & 0o077) !== 0) throw readableByOthers(path);
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return noProfiles;
    throw pathFailure(path, 'read', error, anotherFolder);
  }
  const parsed = parse(text);
  if (parsed === null) throw unreadable(path);
  return parsed;
}

/** Replaces the file atomically and never makes it readable by other users. */
export async function writeProfiles(path: string, profiles: Profiles): Promise<void> {
  try {
    await replace(path, profiles);
  } catch (error) {
    throw pathFailure(path, 'written', error, anotherFolder);
  }
}

async function replace(path: string, profiles: Profiles): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.${randomUUID()}`;
  try {
    const file = await open(temporary, 'wx', 0o600);
    try {
      await file.writeFile(`${JSON.stringify(profiles, null, 2)}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    // Restores the owner's permissions in case the umask removed them.
    await chmod(temporary, 0o600);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/**
 * Adds a login and makes it the current one. Reads the file again, because another login may have finished in the
 * meantime.
 */
export async function keepProfile(path: string, name: string, profile: Profile): Promise<void> {
  const { profiles } = await readProfiles(path);
  await writeProfiles(path, { current: name, profiles: { ...profiles, [name]: profile } });
}

function parse(text: string): Profiles | null {
  try {
    const value: unknown = JSON.parse(text);
    return isProfiles(value) ? value : null;
  } catch {
    return null;
  }
}

function isProfiles(value: unknown): value is Profiles {
  if (!isObject(value) || typeof value['current'] !== 'string' || !isObject(value['profiles'])) return false;
  return Object.values(value['profiles']).every(isProfile);
}

function isProfile(value: unknown): value is Profile {
  if (!isObject(value) || typeof value['url'] !== 'string' || typeof value['apiKey'] !== 'string') return false;
  const { storage } = value;
  if (storage === undefined) return true;
  const needed = ['region', 'bucket', 'prefix', 'accessKeyId', 'secretAccessKey'];
  return isObject(storage) && needed.every((name) => typeof storage[name] === 'string');
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function readableByOthers(path: string): CliFailure {
  return new CliFailure({
    code: 'settings_not_private',
    detail: `${path} contains keys, but other users on this machine can read or change it.`,
    remedy: `Run: chmod 600 ${path}. If others may have read it, ask the operator for new keys.`,
    exitCode: exitCode.notAllowed,
  });
}

function unreadable(path: string): CliFailure {
  return new CliFailure({
    code: 'settings_unreadable',
    detail: `${path} is not a valid profiles file.`,
    remedy: `Fix or remove the file, then run \`inlet login\` again.`,
    exitCode: exitCode.failed,
  });
}
