import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, renameSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { X509Certificate } from 'node:crypto';
import { rememberSecrets } from './known-secrets.ts';

export type Certificate = {
  readonly cert: string;
  readonly key: string;
  readonly pem: string;
  readonly fingerprint: string;
};

/** Writes a self-signed certificate for 127.0.0.1 and its key to files. */
export function makeCertificate(): Certificate {
  const folder = mkdtempSync(join(tmpdir(), 'inlet-tls-'));
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const name = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
  execFileSync('/usr/bin/openssl', ['req', ...kind, ...name, '-keyout', key, '-out', cert], { stdio: 'pipe' });
  const secretLines = readFileSync(key, 'utf8')
    .split('\n')
    .filter((line) => /^[\w+/=]{40,}$/.test(line));
  rememberSecrets(...secretLines);
  const pem = readFileSync(cert, 'utf8');
  return { cert, key, pem, fingerprint: new X509Certificate(pem).fingerprint256 };
}

/** Replaces each file of a certificate atomically, as renewal tools do. */
export function replaceCertificate(place: Certificate, by: Certificate): void {
  renameSync(by.cert, place.cert);
  renameSync(by.key, place.key);
}
