import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { randomKeys } from '../../src/adapters/vault/keys.ts';
import { findSecrets } from '../support/find-secrets.ts';
import { knownSecrets } from '../support/known-secrets.ts';
import { logDirectory } from '../support/log-directory.ts';

// `npm test` runs this after the suites that start processes.

describe('the log output of the whole run', () => {
  it('the logs contain none of the issued secrets', () => {
    const secrets = knownSecrets();
    expect(secrets.length).toBeGreaterThan(4);
    const found = findSecrets(logDirectory, secrets);
    expect(found.filesRead).toBeGreaterThan(1);
    expect(found.places).toEqual([]);
  });

  it('the check finds a planted secret in a log', () => {
    const directory = mkdtempSync(join(tmpdir(), 'inlet-secrets-'));
    writeFileSync(join(directory, 'api.log'), 'fine\nconnecting to postgres://inlet:hunter2@host/db\n');
    expect(findSecrets(directory, ['hunter2']).places).toEqual(['api.log:2']);
  });

  it('the check finds an unregistered JWT in a log', () => {
    const directory = mkdtempSync(join(tmpdir(), 'inlet-secrets-'));
    const [header, claims] = [{ alg: 'ES256' }, { iss: 'https://login.example' }].map((part) =>
      Buffer.from(JSON.stringify(part)).toString('base64url'),
    );
    writeFileSync(join(directory, 'api.log'), `fine\n{"token":"${header}.${claims}.${'A'.repeat(86)}"}\n`);
    expect(findSecrets(directory, []).places).toEqual(['api.log:2']);
  });

  it.each(['apiKey', 'userToken'] as const)('the check finds an unregistered key in a log: %s', (kind) => {
    const key = randomKeys(kind, 'live').issue().key.reveal();
    const directory = mkdtempSync(join(tmpdir(), 'inlet-secrets-'));
    writeFileSync(join(directory, 'api.log'), `fine\n{"path":"/x/${key}"}\n/x/inlet_live_key_${'a'.repeat(39)}\n`);
    expect(findSecrets(directory, []).places).toEqual(['api.log:2']);
  });
});
