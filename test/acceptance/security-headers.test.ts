import { beforeAll, describe, expect, it } from 'vitest';
import type { TestPartner } from '../support/partners.ts';
import { sendRaw } from '../support/raw-request.ts';
import type { Service } from '../support/running-service.ts';
import { joinMarketplace } from '../support/start-marketplace.ts';

describe('security headers', () => {
  let partner: TestPartner;
  let api: Service;

  beforeAll(async () => {
    ({ partner, service: api } = await joinMarketplace());
  });

  function expectSafe(headers: Headers): void {
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none';.*frame-ancestors 'none'/);
    // Browsers ignore this header without TLS.
    expect(headers.get('strict-transport-security')).toBeNull();
    for (const name of ['server', 'x-powered-by']) expect(headers.get(name)).toBeNull();
  }

  it.each([
    ['/v1/marketplace/import', 200, true],
    ['/v1/limits', 200, true],
    ['/v2/firstparty/audience', 200, true],
    ['/v1/marketplace/import/999', 404, true],
    ['/v1/marketplace/import/1/errors?limit=x', 400, true],
    ['/v1/marketplace/import', 401, false],
    ['/nowhere', 404, false],
    ['/%', 400, false],
    ['/health/live', 200, false],
  ] as const)('response headers forbid sniffing, framing, and caching: %s with %i', async (path, status, hasKey) => {
    const authorization = hasKey ? { authorization: `Bearer ${partner.apiKey}` } : {};
    const answer = await fetch(api.url + path, { headers: { ...authorization } });
    expect(answer.status).toBe(status);
    expectSafe(answer.headers);
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  it('security headers are also sent in response to bytes that are not an HTTP request', async () => {
    const answer = await sendRaw(api.url, 'hello\r\n\r\n');
    expect(answer.status).toBe(400);
    expectSafe(answer.headers);
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  it.each(['/docs', '/docs/start.js', '/docs/swagger-ui.css', '/openapi.json'])(
    'response headers allow caching and same-origin scripts for documentation: %s',
    async (path) => {
      const { headers } = await fetch(api.url + path);
      expectSafe(headers);
      expect(headers.get('cache-control')).toBe('public, max-age=300');
      expect(headers.get('content-security-policy')).toContain("script-src 'self'");
    },
  );
});
