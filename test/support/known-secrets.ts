import { appendFileSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { readAddresses } from '../../stack/addresses.ts';

/**
 * Every secret that a test run issued. The list is stored next to the logs, so that the last test can search them for
 * the secrets.
 */
const secretsFile = join(readAddresses().directory, 'test-secrets.txt');

export function forgetSecrets(): void {
  rmSync(secretsFile, { force: true });
}

export function rememberSecrets(...secrets: readonly string[]): void {
  appendFileSync(secretsFile, secrets.map((secret) => `${secret}\n`).join(''), { mode: 0o600 });
}

export function knownSecrets(): string[] {
  return readFileSync(secretsFile, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
}
