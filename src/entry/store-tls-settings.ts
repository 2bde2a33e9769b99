import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { z } from 'zod';
import type { EngineTls } from '../adapters/clickhouse/connect.ts';
import { withParameters } from '../adapters/postgres/libpq-url.ts';
import { Secret } from '../domain/secret.ts';

// TLS settings for the connections to PostgreSQL and ClickHouse.

const file = z.string().min(1).optional();

export const postgresTlsSettings = {
  INLET_POSTGRES_SSLMODE: z
    .enum(['disable', 'require', 'verify-ca', 'verify-full'])
    .optional()
    .describe(
      'TLS mode for connections to PostgreSQL, as in libpq: `disable`, `require` (encrypted, but the server is not verified), `verify-ca` (the certificate is verified), or `verify-full` (the certificate and the host name are verified). Use `verify-full` in production. If it is not set, `sslmode` in the URL applies. If neither is set, connections are not encrypted.',
    ),
  INLET_POSTGRES_CA_FILE: file.describe(
    'File with the CA certificates (PEM) against which PostgreSQL is verified, for example the Amazon RDS bundle. Required for `verify-ca` and `verify-full`.',
  ),
};

export const clickhouseTlsSettings = {
  INLET_CLICKHOUSE_CA_FILE: file.describe(
    'File with the CA certificates (PEM) against which ClickHouse is verified, if `INLET_CLICKHOUSE_URLS` contains `https://` URLs. By default, the public CAs of Node.js are used.',
  ),
  INLET_CLICKHOUSE_CERT_FILE: file.describe(
    'File with the client certificate (PEM) with which the user in `INLET_CLICKHOUSE_URLS` authenticates to ClickHouse instead of a password. Requires `INLET_CLICKHOUSE_CA_FILE` and `INLET_CLICKHOUSE_KEY_FILE`.',
  ),
  INLET_CLICKHOUSE_KEY_FILE: file.describe('File with the private key of that client certificate (PEM).'),
};

type PostgresTls = z.infer<z.ZodObject<typeof postgresTlsSettings>>;
type ClickHouseTls = z.infer<z.ZodObject<typeof clickhouseTlsSettings>>;
type Addresses = {
  readonly INLET_POSTGRES_URL: Secret;
  readonly INLET_OPERATOR_POSTGRES_URL?: Secret | undefined;
  readonly INLET_CLICKHOUSE_URLS: readonly (readonly Secret[])[];
};
type Mistake = { readonly name: string; readonly message: string };

/** Finds settings that contradict each other or that would silently have no effect. */
export function findTlsMistakes(config: PostgresTls & ClickHouseTls & Addresses): Mistake[] {
  return [...findPostgresMistakes(config), ...findClickHouseMistakes(config)];
}

function findPostgresMistakes(config: PostgresTls & Addresses): Mistake[] {
  const { INLET_POSTGRES_SSLMODE: mode, INLET_POSTGRES_CA_FILE: ca } = config;
  const mistakes: Mistake[] = [];
  const urls = [config.INLET_POSTGRES_URL, config.INLET_OPERATOR_POSTGRES_URL];
  const isInUrl = urls.some((url) => url && [...new URL(url.reveal()).searchParams.keys()].some(isTlsParameter));
  if (isInUrl && (mode !== undefined || ca !== undefined)) {
    const message = 'cannot be combined with TLS parameters in the URL of PostgreSQL';
    mistakes.push({ name: mode === undefined ? 'INLET_POSTGRES_CA_FILE' : 'INLET_POSTGRES_SSLMODE', message });
  }
  if (ca === undefined && (mode === 'verify-ca' || mode === 'verify-full')) {
    mistakes.push({ name: 'INLET_POSTGRES_CA_FILE', message: `is required for INLET_POSTGRES_SSLMODE=${mode}` });
  }
  if (ca !== undefined && (mode === undefined || mode === 'disable')) {
    mistakes.push({ name: 'INLET_POSTGRES_SSLMODE', message: 'must be verify-full or verify-ca to use the CA file' });
  }
  return [...mistakes, ...findUnreadable('INLET_POSTGRES_CA_FILE', ca)];
}

function isTlsParameter(name: string): boolean {
  return name.startsWith('ssl') || name === 'uselibpqcompat';
}

function findClickHouseMistakes(config: ClickHouseTls & Addresses): Mistake[] {
  const { INLET_CLICKHOUSE_CA_FILE: ca, INLET_CLICKHOUSE_CERT_FILE: cert, INLET_CLICKHOUSE_KEY_FILE: key } = config;
  const mistakes: Mistake[] = [];
  if ((cert === undefined) !== (key === undefined)) {
    const name = cert === undefined ? 'INLET_CLICKHOUSE_CERT_FILE' : 'INLET_CLICKHOUSE_KEY_FILE';
    mistakes.push({ name, message: 'is required: a client certificate consists of a certificate and a key' });
  }
  if (ca === undefined && cert !== undefined) {
    mistakes.push({ name: 'INLET_CLICKHOUSE_CA_FILE', message: 'is required for a client certificate' });
  }
  const isPlain = config.INLET_CLICKHOUSE_URLS.flat().some((url) => new URL(url.reveal()).protocol !== 'https:');
  if (isPlain && (ca !== undefined || cert !== undefined)) {
    const message = 'must contain only https:// URLs, because INLET_CLICKHOUSE_CA_FILE or _CERT_FILE is set';
    mistakes.push({ name: 'INLET_CLICKHOUSE_URLS', message });
  }
  const unreadable = [
    ...findUnreadable('INLET_CLICKHOUSE_CA_FILE', ca),
    ...findUnreadable('INLET_CLICKHOUSE_CERT_FILE', cert),
    ...findUnreadable('INLET_CLICKHOUSE_KEY_FILE', key),
  ];
  if (unreadable.length > 0 || cert === undefined || key === undefined) return [...mistakes, ...unreadable];
  try {
    createSecureContext({ cert: readFileSync(cert), key: readFileSync(key) });
  } catch {
    // The OpenSSL error is not quoted, because the file contains a secret.
    mistakes.push({
      name: 'INLET_CLICKHOUSE_KEY_FILE',
      message: `${key} is not the key of the certificate in ${cert}`,
    });
  }
  return mistakes;
}

/** Checks only that the file is PEM. The key of a certificate is checked together with the certificate. */
function findUnreadable(name: string, path: string | undefined): Mistake[] {
  if (path === undefined) return [];
  try {
    if (readFileSync(path, 'utf8').includes('-----BEGIN ')) return [];
    return [{ name, message: `the file ${path} contains no PEM block` }];
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'error';
    return [{ name, message: `cannot read the file ${path} (${reason})` }];
  }
}

/**
 * Adds the TLS settings to the URLs of PostgreSQL, so that every connection uses them: pools, sessions, the queue, and
 * `pg_dump`. Without `uselibpqcompat`, the driver treats all modes as `verify-full`.
 */
export function withPostgresTls<T extends PostgresTls & Addresses>(config: T): T {
  const { INLET_POSTGRES_SSLMODE: mode, INLET_POSTGRES_CA_FILE: ca } = config;
  if (mode === undefined) return config;
  const add = (url: Secret): Secret => {
    const secured = withParameters(url.reveal(), (parameters) => {
      parameters.set('sslmode', mode);
      parameters.set('uselibpqcompat', 'true');
      if (ca !== undefined) parameters.set('sslrootcert', ca);
    });
    return new Secret(secured.href);
  };
  const operator = config.INLET_OPERATOR_POSTGRES_URL;
  return {
    ...config,
    INLET_POSTGRES_URL: add(config.INLET_POSTGRES_URL),
    ...(operator === undefined ? {} : { INLET_OPERATOR_POSTGRES_URL: add(operator) }),
  };
}

/** Reads the files for TLS connections to ClickHouse. Returns null if the defaults of Node.js apply. */
export function engineTlsOf(config: ClickHouseTls): EngineTls | null {
  const { INLET_CLICKHOUSE_CA_FILE: ca, INLET_CLICKHOUSE_CERT_FILE: cert, INLET_CLICKHOUSE_KEY_FILE: key } = config;
  if (ca === undefined) return null;
  const ca_cert = readFileSync(ca);
  return cert === undefined || key === undefined
    ? { ca_cert }
    : { ca_cert, cert: readFileSync(cert), key: readFileSync(key) };
}
