import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { connect, type ConnectionOptions } from 'node:tls';
import type { IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeCertificate, replaceCertificate, type Certificate } from '../support/certificate.ts';
import { createPartner, type TestPartner } from '../support/partners.ts';
import { startProcess, stopProcess, type ServiceProcess } from '../support/running-service.ts';
import { createStores, type TestStores } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';

describe('an API that terminates TLS', () => {
  let stores: TestStores;
  let partner: TestPartner;
  let first: Certificate;
  let api: ServiceProcess;
  let port: number;
  const log = (): string => readFileSync(api.logFile, 'utf8');

  beforeAll(async () => {
    stores = await createStores('one');
    partner = await createPartner(stores.environment);
    first = makeCertificate();
    const tls = { INLET_TLS_CERT_FILE: first.cert, INLET_TLS_KEY_FILE: first.key, INLET_HEADERS_SECONDS: '2' };
    api = startProcess('api', { ...stores.environment, ...tls }, 'tls');
    await waitUntil('the API is listening', () => {
      port = Number(/Server listening at https:\/\/127\.0\.0\.1:(\d+)/.exec(log())?.[1]);
      return Promise.resolve(port > 0);
    });
  });
  afterAll(async () => {
    await stopProcess(api.child);
    await stores.drop();
  });

  function ask(path: string, ca: string): Promise<IncomingMessage> {
    const headers = { authorization: `Bearer ${partner.apiKey}` };
    return new Promise((resolve, reject) => {
      const request = get({ host: '127.0.0.1', port, path, headers, ca, agent: false }, (answer) => {
        answer.resume();
        resolve(answer);
      });
      request.on('error', reject);
    });
  }
  /** Returns the result of a handshake with a client that skips certificate verification. */
  async function handshake(options: ConnectionOptions = {}): Promise<{ fingerprint: string; protocol: string | null }> {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...options });
    try {
      await once(socket, 'secureConnect');
      return {
        fingerprint: socket.getPeerX509Certificate()?.fingerprint256 ?? '',
        protocol: socket.getProtocol(),
      };
    } finally {
      socket.destroy();
    }
  }

  it('serves HTTPS with its certificate and sends the header Strict-Transport-Security', async () => {
    const answer = await ask('/v1/marketplace/import', first.pem);
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['strict-transport-security']).toBe('max-age=31536000');
    expect((await ask('/health/ready', first.pem)).statusCode).toBe(200);
  });

  it('supports TLS 1.2 and 1.3 and nothing older', async () => {
    expect((await handshake()).protocol).toBe('TLSv1.3');
    expect((await handshake({ maxVersion: 'TLSv1.2' })).protocol).toBe('TLSv1.2');
    // The client allows every old cipher, so that only the server can reject the handshake.
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' } as const;
    await expect(handshake(old)).rejects.toThrow(/alert protocol version|EPROTO|ECONNRESET|disconnected/);
  });

  it('does not serve plain HTTP', async () => {
    await expect(fetch(`http://127.0.0.1:${port}/health/live`)).rejects.toThrow('fetch failed');
  });

  it('loads a new certificate on SIGHUP without downtime', async () => {
    const second = makeCertificate();
    replaceCertificate(first, second);
    api.child.kill('SIGHUP');
    await waitUntil(
      'the new certificate is in use',
      async () => (await handshake()).fingerprint === second.fingerprint,
    );
    expect((await ask('/v1/marketplace/import', second.pem)).statusCode).toBe(200);
  });

  it('loads a new certificate when the files change', async () => {
    const third = makeCertificate();
    const before = (await handshake()).fingerprint;
    replaceCertificate(first, third);
    await waitUntil('the certificate has changed', async () => (await handshake()).fingerprint !== before);
    expect((await handshake()).fingerprint).toBe(third.fingerprint);
  });

  it('keeps the previous certificate if the new certificate is invalid', async () => {
    const before = (await handshake()).fingerprint;
    // The two renames in the previous test can already have caused a warning.
    const warnings = (): number => log().split('cannot use the new TLS certificate').length;
    const warningsBefore = warnings();
    writeFileSync(first.cert, 'half a certi');
    api.child.kill('SIGHUP');
    await waitUntil('a warning is logged', () => Promise.resolve(warnings() > warningsBefore));
    expect((await handshake()).fingerprint).toBe(before);
  });

  it('does not start with a certificate without a key or with a mismatched key', async () => {
    const [one, other] = [makeCertificate(), makeCertificate()];
    for (const [settings, message] of [
      [{ INLET_TLS_CERT_FILE: one.cert }, 'must be set together'],
      [{ INLET_TLS_CERT_FILE: one.cert, INLET_TLS_KEY_FILE: other.key }, 'key values mismatch'],
    ] as const) {
      const failing = startProcess('api', { ...stores.environment, ...settings }, 'tls-wrong');
      await once(failing.child, 'exit');
      expect(failing.child.exitCode).not.toBe(0);
      expect(readFileSync(failing.logFile, 'utf8')).toContain(message);
    }
  });
});
