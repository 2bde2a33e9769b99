import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseKey } from '../../src/domain/key-format.ts';

/** A signed JWT: two objects of JSON in base64url, and a signature. Whoever made it, it is none to be read. */
const anyJwt = /eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}/;

/** Of whatever could be a key. */
const keyPattern = /inlet_[a-z][a-z0-9]{0,15}_(?:key|user)_[0-9A-Za-z]{39}/g;

/**
 * Looks for secrets in every file of a folder, and for keys that nobody remembered: their checksum is right. The places are
 * given, never the secret.
 */
export function findSecrets(directory: string, secrets: readonly string[]): { filesRead: number; places: string[] } {
  const files = readdirSync(directory);
  const places = files.flatMap((file) =>
    readFileSync(join(directory, file), 'utf8')
      .split('\n')
      .flatMap((line, index) => (isGivenAway(line, secrets) ? [`${file}:${index + 1}`] : [])),
  );
  return { filesRead: files.length, places };
}

function isGivenAway(line: string, secrets: readonly string[]): boolean {
  if (anyJwt.test(line) || secrets.some((secret) => line.includes(secret))) return true;
  return (line.match(keyPattern) ?? []).some((text) => parseKey(text) !== null);
}
