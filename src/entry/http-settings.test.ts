import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defaultRequestLimits } from '../domain/limits.ts';
import { httpLimitsOf, httpSettings, requestLimitsOf, tlsPathsOf } from './http-settings.ts';

const schema = z.object(httpSettings);

describe('the HTTP settings', () => {
  it('uses the documented limits, no trusted proxy, and no TLS by default', () => {
    const settings = schema.parse({});
    expect(requestLimitsOf(settings)).toEqual(defaultRequestLimits);
    expect(httpLimitsOf(settings)).toMatchObject({ headersSeconds: 10, requestSeconds: 30, trustedProxies: [] });
    expect(tlsPathsOf(settings)).toBeNull();
  });

  it('accepts trusted proxies only as addresses or networks', () => {
    const { trustedProxies } = httpLimitsOf(schema.parse({ INLET_TRUSTED_PROXIES: '127.0.0.1, 10.1.2.0/24,fd00::/8' }));
    expect(trustedProxies).toEqual(['127.0.0.1', '10.1.2.0/24', 'fd00::/8']);
    for (const wrong of ['true', '*', 'loopback', '1', '10.1.2.1/24', 'proxy.example', '10.1.2.0/24,']) {
      expect(schema.safeParse({ INLET_TRUSTED_PROXIES: wrong }).success, wrong).toBe(false);
    }
  });

  it('accepts a certificate only together with its key', () => {
    const [cert, key] = ['/etc/inlet/cert.pem', '/etc/inlet/key.pem'];
    expect(tlsPathsOf(schema.parse({ INLET_TLS_CERT_FILE: cert, INLET_TLS_KEY_FILE: key }))).toEqual({ cert, key });
    for (const half of [{ INLET_TLS_CERT_FILE: cert }, { INLET_TLS_KEY_FILE: key }]) {
      expect(() => tlsPathsOf(schema.parse(half))).toThrow('must be set together');
    }
  });

  it('rejects a limit of zero', () => {
    for (const name of Object.keys(httpSettings).filter((setting) => /REQUESTS|SECONDS|MAX/.test(setting))) {
      for (const wrong of ['0', '-1', '1.5', 'many']) {
        expect(schema.safeParse({ [name]: wrong }).success, `${name}=${wrong}`).toBe(false);
      }
    }
  });
});
