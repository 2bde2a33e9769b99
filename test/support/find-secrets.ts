import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseKey } from '../../src/domain/key-format.ts';

/**
 * Matches a signed JWT: two JSON objects in base64url and a signature. A log must not contain a JWT from any issuer.
 */
const anyJwt = /eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}/;

/** Matches any string that has the form of an API key. */
const keyPattern = /inlet_[a-z][a-z0-9]{0,15}_(?:key|user)_[0-9A-Za-z]{39}/g;

/**
 * Searches every file in a folder for the recorded secrets and for unrecorded keys with a valid checksum.
 * Returns the locations, never the secrets.
 */
export function findSecrets(directory: string, secrets: readonly string[]): { filesRead: number; places: string[] } {
  const files = readdirSync(directory);
  const places = files.flatMap((file) => {
    const text = readFileSync(join(directory, file), 'utf8');
    // One search of the whole file is much faster than one of each line.
    if (!leaksSecret(text, secrets)) return [];
    return text.split('\n').flatMap((line, index) => (leaksSecret(line, secrets) ? [`${file}:${index + 1}`] : []));
  });
  return { filesRead: files.length, places };
}

function leaksSecret(text: string, secrets: readonly string[]): boolean {
  if (anyJwt.test(text) || secrets.some((secret) => text.includes(secret))) return true;
  return (text.match(keyPattern) ?? []).some((key) => parseKey(key) !== null);
}
