import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Looks for secrets in every file of a folder; the places are given, never the secret. */
export function findSecrets(directory: string, secrets: readonly string[]): { filesRead: number; places: string[] } {
  const files = readdirSync(directory);
  const places = files.flatMap((file) =>
    readFileSync(join(directory, file), 'utf8')
      .split('\n')
      .flatMap((line, index) => (secrets.some((secret) => line.includes(secret)) ? [`${file}:${index + 1}`] : [])),
  );
  return { filesRead: files.length, places };
}
