import { appendFileSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { readAddresses } from '../../stack/addresses.ts';

/** Stored next to the logs: every secret that a test run issued, so that the last test can search for it. */
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
