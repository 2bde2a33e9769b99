import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rememberSecrets } from './known-secrets.ts';

export type KeyPair = { readonly cert: string; readonly key: string };
export type CertificateAuthority = {
  readonly folder: string;
  /** The path of the CA's certificate. */
  readonly ca: string;
  /** Issues a certificate. The names have OpenSSL's format, for example `DNS:localhost`. */
  readonly issue: (name: string, alternativeNames: string) => KeyPair;
  readonly remove: () => void;
};

const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

/** Creates a separate CA with OpenSSL, as the operator of an internal CA does. */
export function createAuthority(): CertificateAuthority {
  const folder = mkdtempSync(join(tmpdir(), 'inlet-ca-'));
  const run = (...parameters: string[]): void => {
    execFileSync('/usr/bin/openssl', parameters, { stdio: 'pipe' });
  };
  const path = (name: string): string => join(folder, name);
  const [ca, caKey] = [path('ca.pem'), path('ca-key.pem')];
  run('req', '-x509', ...curve, '-days', '2', '-subj', '/CN=Test CA', '-keyout', caKey, '-out', ca);
  rememberKey(caKey);
  return {
    folder,
    ca,
    issue: (name, alternativeNames) => {
      const [cert, key, request, extensions] = ['.pem', '-key.pem', '.csr', '.ext'].map((end) => path(name + end));
      if (!cert || !key || !request || !extensions) throw new Error('no file names');
      run('req', '-new', ...curve, '-subj', `/CN=${name}`, '-keyout', key, '-out', request);
      writeFileSync(extensions, `subjectAltName=${alternativeNames}\n`);
      const signer = ['-CA', ca, '-CAkey', caKey, '-CAcreateserial', '-days', '2', '-extfile', extensions];
      run('x509', '-req', '-in', request, ...signer, '-out', cert);
      rememberKey(key);
      return { cert, key };
    },
    remove: () => rmSync(folder, { recursive: true }),
  };
}

function rememberKey(file: string): void {
  rememberSecrets(
    ...readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => /^[\w+/=]{40,}$/.test(line)),
  );
}
