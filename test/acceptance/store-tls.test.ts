import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openControlBackup } from '../../src/adapters/postgres/control-backup.ts';
import { type CertificateAuthority, createAuthority } from '../support/certificate-authority.ts';
import { device } from '../support/device-id.ts';
import { configFor } from '../support/environment.ts';
import { createPartner } from '../support/partners.ts';
import { runOperator } from '../support/run-operator.ts';
import { type Service, startService } from '../support/running-service.ts';
import { type TestStores, createEmptyStores } from '../support/stores.ts';
import { type TlsPostgres, startTlsPostgres } from '../support/tls-postgres.ts';
import { type TlsProxy, startTlsProxy } from '../support/tls-proxy.ts';
import { apiClient } from './api-client.ts';

/** The servers have certificates for the address 127.0.0.1 and not for the name localhost. */
describe('TLS to PostgreSQL and ClickHouse, with passwords from files', () => {
  let own: CertificateAuthority;
  let foreign: CertificateAuthority;
  let stores: TestStores;
  let postgres: TlsPostgres;
  let proxy: TlsProxy;
  let certificateProxy: TlsProxy;
  let environment: Record<string, string>;
  let engineUrl: URL;
  let service: Service | undefined;

  const secretFile = (name: string, content: string): string => {
    const path = join(own.folder, name);
    writeFileSync(path, `${content}\n`, { mode: 0o600 });
    return path;
  };
  const secured = (host: string, at: TlsProxy, password = engineUrl.password): string => {
    const { username } = engineUrl;
    return `https://${username}${password === '' ? '' : `:${password}`}@${host}:${at.port}/`;
  };

  /** Tests run operator functions in this process, which reads no secrets from files. */
  const direct = (): Record<string, string> => ({
    ...stores.environment,
    INLET_POSTGRES_URL: postgres.url('127.0.0.1'),
    INLET_POSTGRES_SSLMODE: 'verify-full',
    INLET_POSTGRES_CA_FILE: own.ca,
  });

  beforeAll(async () => {
    [own, foreign] = [createAuthority(), createAuthority()];
    const server = own.issue('server', 'IP:127.0.0.1');
    stores = await createEmptyStores('one');
    const [[url] = []] = stores.config.INLET_CLICKHOUSE_URLS;
    engineUrl = new URL(url?.reveal() ?? '');
    [postgres, proxy, certificateProxy] = await Promise.all([
      startTlsPostgres(server),
      startTlsProxy(engineUrl, server),
      startTlsProxy(engineUrl, server, own.ca),
    ]);
    const { INLET_POSTGRES_URL: _postgres, INLET_CLICKHOUSE_URLS: _clickhouse, ...others } = stores.environment;
    environment = {
      ...others,
      INLET_POSTGRES_URL_FILE: secretFile('postgres-url', postgres.url('127.0.0.1')),
      INLET_POSTGRES_SSLMODE: 'verify-full',
      INLET_POSTGRES_CA_FILE: own.ca,
      INLET_CLICKHOUSE_URLS_FILE: secretFile('clickhouse-urls', secured('127.0.0.1', proxy)),
      INLET_CLICKHOUSE_CA_FILE: own.ca,
    };
    const { code, err } = await runOperator(environment, ['migrate']);
    if (code !== 0) throw new Error(`inlet migrate failed: ${err}`);
  });
  afterAll(async () => {
    await service?.stop();
    proxy.close();
    certificateProxy.close();
    await postgres.stop();
    await stores.drop();
    own.remove();
    foreign.remove();
  });

  /** The output lines of `inlet doctor` about the connections. */
  const doctor = async (changes: Record<string, string>): Promise<string> => {
    const { out } = await runOperator({ ...environment, ...changes }, ['doctor']);
    return out;
  };

  it('migrates, imports a file, and answers requests over verified connections only', async () => {
    service = await startService(environment, 'store-tls');
    const partner = await createPartner(direct());
    await partner.createAttribute('sport', 'sport');
    await partner.upload('a.csv', `${device(1)},sport\n${device(2)},sport\n`);
    const api = apiClient(service.url, partner.apiKey);
    const job = await api.queue({ file_path: 'a.csv', key_type: 1 });
    expect(await api.waitForEnd(job)).toMatchObject({ status: 2, total_rows: '2' });
    const client = new Client({ connectionString: configFor(direct()).INLET_POSTGRES_URL.reveal() });
    await client.connect();
    const { rows } = await client.query<{ connections: number; encrypted: number }>(
      `SELECT count(*)::int AS connections, count(*) FILTER (WHERE ssl)::int AS encrypted
       FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name LIKE 'inlet%'`,
    );
    await client.end();
    expect(rows[0]?.connections).toBeGreaterThan(3);
    expect(rows[0]?.encrypted).toBe(rows[0]?.connections);
  });

  it('dumps PostgreSQL for a backup over the same verified connection', async () => {
    const config = configFor(direct());
    const backup = await openControlBackup(config.INLET_POSTGRES_URL, config.INLET_POSTGRES_TOOLS);
    await backup.pause(20);
    const file = join(own.folder, 'dump');
    await backup.dump(file);
    await backup.resume();
    await backup.close();
    expect(readFileSync(file).subarray(0, 5).toString()).toBe('PGDMP');
  });

  it.each([
    { what: 'an unencrypted connection', changes: { INLET_POSTGRES_SSLMODE: 'disable' }, ok: false, ca: 'none' },
    { what: 'an unverified server with require', changes: { INLET_POSTGRES_SSLMODE: 'require' }, ok: true, ca: 'none' },
    { what: 'the CA with verify-ca', changes: { INLET_POSTGRES_SSLMODE: 'verify-ca' }, ok: true, ca: 'own' },
    { what: 'a wrong CA with verify-ca', changes: { INLET_POSTGRES_SSLMODE: 'verify-ca' }, ok: false, ca: 'foreign' },
    { what: 'the CA with verify-full', changes: { INLET_POSTGRES_SSLMODE: 'verify-full' }, ok: true, ca: 'own' },
    {
      what: 'a wrong CA with verify-full',
      changes: { INLET_POSTGRES_SSLMODE: 'verify-full' },
      ok: false,
      ca: 'foreign',
    },
  ])('PostgreSQL: accepts $what: $ok', async ({ changes, ok, ca }) => {
    const file = { none: '', own: own.ca, foreign: foreign.ca }[ca] ?? '';
    const out = await doctor({ ...changes, INLET_POSTGRES_CA_FILE: file });
    expect(out).toContain(ok ? 'ok     PostgreSQL: version' : 'FAIL   PostgreSQL: ');
  });

  it.each([
    { mode: 'verify-ca', ok: true },
    { mode: 'verify-full', ok: false },
  ])('PostgreSQL: accepts a host name that is not in the certificate with $mode: $ok', async ({ mode, ok }) => {
    const changes = {
      INLET_POSTGRES_URL_FILE: secretFile('other-name', postgres.url('localhost')),
      INLET_POSTGRES_SSLMODE: mode,
    };
    const out = await doctor(changes);
    expect(out).toContain(ok ? 'ok     PostgreSQL: version' : 'FAIL   PostgreSQL: Hostname/IP does not match');
  });

  it('ClickHouse: rejects a wrong CA, the public CAs, and a host name that is not in the certificate', async () => {
    expect(await doctor({})).toContain('ok     ClickHouse, shard 1: version');
    expect(await doctor({ INLET_CLICKHOUSE_CA_FILE: foreign.ca })).toContain('FAIL   ClickHouse, shard 1: ');
    expect(await doctor({ INLET_CLICKHOUSE_CA_FILE: '' })).toContain('FAIL   ClickHouse, shard 1: ');
    const name = secretFile('clickhouse-name', secured('localhost', proxy));
    expect(await doctor({ INLET_CLICKHOUSE_URLS_FILE: name })).toContain(
      'FAIL   ClickHouse, shard 1: Hostname/IP does not match',
    );
  });

  it('ClickHouse: authenticates with a client certificate instead of a password', async () => {
    const client = own.issue('inlet-worker', 'DNS:inlet-worker');
    const changes = {
      INLET_CLICKHOUSE_URLS_FILE: secretFile('clickhouse-certificate', secured('127.0.0.1', certificateProxy, '')),
    };
    expect(await doctor(changes)).toContain('FAIL   ClickHouse, shard 1: ');
    const files = { INLET_CLICKHOUSE_CERT_FILE: client.cert, INLET_CLICKHOUSE_KEY_FILE: client.key };
    expect(await doctor({ ...changes, ...files })).toContain('ok     ClickHouse, shard 1: version');
    expect([...certificateProxy.clients]).toEqual(['inlet-worker']);
    const stranger = foreign.issue('stranger', 'DNS:stranger');
    const wrong = { INLET_CLICKHOUSE_CERT_FILE: stranger.cert, INLET_CLICKHOUSE_KEY_FILE: stranger.key };
    expect(await doctor({ ...changes, ...wrong })).toContain('FAIL   ClickHouse, shard 1: ');
    expect([...certificateProxy.clients]).toEqual(['inlet-worker']);
  });

  it('names a secret file that cannot be read, but never shows its content', async () => {
    const { out, err, code } = await runOperator({ ...environment, INLET_POSTGRES_URL_FILE: '/nowhere' }, ['doctor']);
    expect(code).not.toBe(0);
    expect(out + err).toContain('INLET_POSTGRES_URL_FILE: cannot read the file /nowhere (ENOENT)');
    const both = { ...environment, INLET_POSTGRES_URL: postgres.url('127.0.0.1') };
    const second = await runOperator(both, ['doctor']);
    expect(second.out + second.err).toContain('INLET_POSTGRES_URL is also set. Set only one of them.');
    expect(second.out + second.err).not.toContain(new URL(postgres.url('127.0.0.1')).password);
  });
});
