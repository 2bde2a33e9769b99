import { readFileSync, unwatchFile, watchFile } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { TlsFiles, TlsSource } from '../adapters/http/http-limits.ts';
import type { Log } from '../ports/observability.ts';

/** Looked at by their times, not by events: these are lost when a link is turned, as Kubernetes does it. */
const pollEveryMs = 2_000;

type Paths = { readonly cert: string; readonly key: string };

/**
 * Certificate and key from files, read again when one changes and when the process gets SIGHUP. Files that do not belong
 * together, as in the moment between two writes, are not used; the ones before stay.
 */
export function watchTlsFiles(paths: Paths, log: Log): TlsSource & { readonly close: () => void } {
  let files = readTlsFiles(paths);
  const users: ((files: TlsFiles) => void)[] = [];
  const reload = (): void => {
    try {
      files = readTlsFiles(paths);
      for (const use of users) use(files);
      log.info({ cert: paths.cert }, 'certificate read again');
    } catch (error) {
      log.error({ err: error, cert: paths.cert }, 'the new certificate cannot be used; the one before stays');
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
  // Throws when they are no certificate and key, or not of each other.
  createSecureContext(files);
  return files;
}
