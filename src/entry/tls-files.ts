import { readFileSync, unwatchFile, watchFile } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { TlsFiles, TlsSource } from '../adapters/http/http-limits.ts';
import type { Log } from '../ports/observability.ts';

/**
 * Interval at which modification times are polled. File events are lost when a symbolic link changes, as in Kubernetes
 * secrets.
 */
const pollEveryMs = 2_000;

type Paths = { readonly cert: string; readonly key: string };

/**
 * Reads the certificate and key, and reloads them when a file changes and on SIGHUP. If the new certificate and key do
 * not match, for example because only one of them has been written, the previous pair stays in use.
 */
export function watchTlsFiles(paths: Paths, log: Log): TlsSource & { readonly close: () => void } {
  let files = readTlsFiles(paths);
  const users: ((files: TlsFiles) => void)[] = [];
  const reload = (): void => {
    try {
      files = readTlsFiles(paths);
      for (const use of users) use(files);
      log.info({ cert: paths.cert }, 'reloaded the TLS certificate');
    } catch (error) {
      log.error({ err: error, cert: paths.cert }, 'cannot use the new TLS certificate; keeping the previous one');
    }
  };
  const all = [paths.cert, paths.key];
  for (const path of all) watchFile(path, { interval: pollEveryMs, persistent: false }, reload);
  process.on('SIGHUP', reload);
  return {
    current: () => files,
    onChange: (use) => void users.push(use),
    close: () => {
      for (const path of all) unwatchFile(path, reload);
      process.off('SIGHUP', reload);
    },
  };
}

function readTlsFiles({ cert, key }: Paths): TlsFiles {
  const files = { cert: readFileSync(cert), key: readFileSync(key) };
  // Throws if the certificate and the key do not match.
  createSecureContext(files);
  return files;
}
