import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { configSchema } from './config.ts';
import { engineTlsOf } from './store-tls-settings.ts';

const folder = mkdtempSync(join(tmpdir(), 'inlet-store-tls-'));
afterAll(() => rmSync(folder, { recursive: true }));

const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2', '-subj', '/CN=x'];
function makePair(name: string): { cert: string; key: string } {
  const [cert, key] = [join(folder, `${name}.pem`), join(folder, `${name}-key.pem`)];
  execFileSync('/usr/bin/openssl', ['req', '-x509', ...curve, '-keyout', key, '-out', cert], { stdio: 'pipe' });
  return { cert, key };
}
const [pair, other] = [makePair('a'), makePair('b')];
const notPem = join(folder, 'text');
writeFileSync(notPem, 'hunter2');

const base = {
  INLET_POSTGRES_URL: 'postgres://inlet:pg-hunter2@db.example/inlet?options=-c%20a%3Db',
  INLET_OPERATOR_POSTGRES_URL: 'postgres://reader:pg-hunter3@db.example/inlet',
  INLET_CLICKHOUSE_URLS: 'https://inlet:ch-hunter2@one:8443',
  INLET_CLICKHOUSE_CLUSTER: 'inlet',
  INLET_S3_BUCKET: 'uploads',
  INLET_SEALING_KEYS: `k1:${'ab'.repeat(32)}`,
};
const mistakesOf = (settings: Record<string, string>): string[] =>
  (configSchema.safeParse({ ...base, ...settings }).error?.issues ?? []).map(
    ({ path, message }) => `${path.join('.')}: ${message}`,
  );

describe('TLS to PostgreSQL', () => {
  it('leaves the URLs unchanged unless a mode is set', () => {
    expect(configSchema.parse(base).INLET_POSTGRES_URL.reveal()).toBe(base.INLET_POSTGRES_URL);
  });

  it('adds the mode and the CA to the URLs of the service and of the operator API', () => {
    const config = configSchema.parse({
      ...base,
      INLET_POSTGRES_SSLMODE: 'verify-full',
      INLET_POSTGRES_CA_FILE: pair.cert,
    });
    for (const secret of [config.INLET_POSTGRES_URL, config.INLET_OPERATOR_POSTGRES_URL]) {
      const { searchParams } = new URL(secret?.reveal() ?? '');
      expect(Object.fromEntries(searchParams)).toMatchObject({
        sslmode: 'verify-full',
        sslrootcert: pair.cert,
        uselibpqcompat: 'true',
      });
    }
    // libpq does not decode a space that is written as +.
    expect(config.INLET_POSTGRES_URL.reveal()).toContain('?options=-c%20a%3Db&');
  });

  it.each([
    [
      { INLET_POSTGRES_SSLMODE: 'verify-full' },
      'INLET_POSTGRES_CA_FILE: is required for INLET_POSTGRES_SSLMODE=verify-full',
    ],
    [
      { INLET_POSTGRES_SSLMODE: 'verify-ca' },
      'INLET_POSTGRES_CA_FILE: is required for INLET_POSTGRES_SSLMODE=verify-ca',
    ],
    [
      { INLET_POSTGRES_CA_FILE: pair.cert },
      'INLET_POSTGRES_SSLMODE: must be verify-full or verify-ca to use the CA file',
    ],
    [
      { INLET_POSTGRES_SSLMODE: 'require', INLET_POSTGRES_URL: 'postgres://a@b/c?sslmode=disable' },
      'INLET_POSTGRES_SSLMODE: cannot be combined with TLS parameters in the URL of PostgreSQL',
    ],
    [
      { INLET_POSTGRES_SSLMODE: 'verify-ca', INLET_POSTGRES_CA_FILE: '/nowhere' },
      'INLET_POSTGRES_CA_FILE: cannot read the file /nowhere (ENOENT)',
    ],
    [
      { INLET_POSTGRES_SSLMODE: 'verify-ca', INLET_POSTGRES_CA_FILE: notPem },
      `INLET_POSTGRES_CA_FILE: the file ${notPem} contains no PEM block`,
    ],
  ])('rejects %j', (settings, expected) => {
    expect(mistakesOf(settings)).toEqual([expected]);
  });

  it('rejects an unknown mode', () => {
    expect(mistakesOf({ INLET_POSTGRES_SSLMODE: 'prefer' })).toHaveLength(1);
  });
});

describe('TLS to ClickHouse', () => {
  const all = {
    INLET_CLICKHOUSE_CA_FILE: other.cert,
    INLET_CLICKHOUSE_CERT_FILE: pair.cert,
    INLET_CLICKHOUSE_KEY_FILE: pair.key,
  };

  it('reads the CA and the client certificate', () => {
    expect(engineTlsOf(configSchema.parse(base))).toBeNull();
    expect(engineTlsOf(configSchema.parse({ ...base, INLET_CLICKHOUSE_CA_FILE: other.cert }))).toHaveProperty(
      'ca_cert',
      readFileSync(other.cert),
    );
    expect(Object.keys(engineTlsOf(configSchema.parse({ ...base, ...all })) ?? {})).toEqual(['ca_cert', 'cert', 'key']);
  });

  const { INLET_CLICKHOUSE_CA_FILE: _ca, ...withoutCa } = all;
  const { INLET_CLICKHOUSE_KEY_FILE: _key, ...withoutKey } = all;
  it.each([
    [withoutCa, 'INLET_CLICKHOUSE_CA_FILE: is required for a client certificate'],
    [withoutKey, 'INLET_CLICKHOUSE_KEY_FILE: is required: a client certificate consists of a certificate and a key'],
    [
      { ...all, INLET_CLICKHOUSE_KEY_FILE: other.key },
      `INLET_CLICKHOUSE_KEY_FILE: ${other.key} is not the key of the certificate in ${pair.cert}`,
    ],
    [
      { ...all, INLET_CLICKHOUSE_URLS: 'https://one:8443,http://two:8123' },
      'INLET_CLICKHOUSE_URLS: must contain only https:// URLs, because INLET_CLICKHOUSE_CA_FILE or _CERT_FILE is set',
    ],
    [
      { ...all, INLET_CLICKHOUSE_KEY_FILE: notPem },
      `INLET_CLICKHOUSE_KEY_FILE: the file ${notPem} contains no PEM block`,
    ],
  ])('rejects %j', (settings, expected) => {
    expect(mistakesOf(settings)).toEqual([expected]);
    expect(mistakesOf(settings).join()).not.toContain('hunter');
  });
});
