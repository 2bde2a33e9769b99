import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A signed JWT: two objects of JSON in base64url, and a signature. Whoever made it, it is none to be read. */
const anyJwt = /eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}/;

/** Looks for secrets in every file of a folder; the places are given, never the secret. */
export function findSecrets(directory: string, secrets: readonly string[]): { filesRead: number; places: string[] } {
  const files = readdirSync(directory);
  const isLeak = (line: string): boolean => anyJwt.test(line) || secrets.some((secret) => line.includes(secret));
  const places = files.flatMap((file) =>
    readFileSync(join(directory, file), 'utf8')
      .split('\n')
      .flatMap((line, index) => (isLeak(line) ? [`${file}:${index + 1}`] : [])),
  );
  return { filesRead: files.length, places };
}
