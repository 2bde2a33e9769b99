import { beforeAll, describe, expect, it } from 'vitest';
import { readOpenApiText } from '../support/openapi/document.ts';
import type { Service } from '../support/running-service.ts';
import { sharedService } from '../support/shared-service.ts';

describe('the API reference', () => {
  let api: Service;

  beforeAll(async () => {
    api = (await sharedService()).service;
  });

  it('serves the committed OpenAPI document without an API key', async () => {
    const answer = await fetch(`${api.url}/openapi.json`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await answer.text()).toBe(readOpenApiText());
  });

  it('loads all assets from the same server', async () => {
    const page = await fetch(`${api.url}/docs`);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const html = await page.text();
    expect(html).not.toMatch(/<script>|https?:|style=|\bon\w+=/);
    const parts = Array.from(html.matchAll(/(?:href|src)="([^"]+)"/g), ([, part = '']) => part);
    expect(parts).toEqual(['docs/swagger-ui.css', 'docs/swagger-ui-bundle.js', 'docs/start.js']);
    for (const part of parts) {
      const answer = await fetch(new URL(part, page.url));
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toMatch(part.endsWith('.css') ? /^text\/css/ : /^text\/javascript/);
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    }
  });

  it('the root path redirects to the API reference', async () => {
    const response = await fetch(api.url, { redirect: 'manual' });
    expect([response.status, response.headers.get('location')]).toEqual([302, 'docs']);
    expect((await fetch(api.url)).url).toBe(`${api.url}/docs`);
  });

  it('renders the OpenAPI document of the same server', async () => {
    const start = await (await fetch(`${api.url}/docs/start.js`)).text();
    const bundle = await (await fetch(`${api.url}/docs/swagger-ui-bundle.js`)).text();
    expect(start).toContain("url: 'openapi.json'");
    expect(start).toContain('SwaggerUIBundle(');
    expect(bundle).toContain('SwaggerUIBundle');
  });

  it.each(['/docs', '/docs/start.js', '/openapi.json'])(
    'does not allow %s to load anything from other origins',
    async (path) => {
      const policy = (await fetch(api.url + path)).headers.get('content-security-policy') ?? '';
      const rules = policy.split('; ');
      expect(rules).toContain("default-src 'none'");
      expect(rules).toContain("frame-ancestors 'none'");
      const sources = rules.flatMap((rule) => rule.split(' ').slice(1));
      expect([...new Set(sources)].toSorted()).toEqual(["'none'", "'self'", 'data:']);
      expect(rules.find((rule) => rule.startsWith('script-src'))).toBe("script-src 'self'");
    },
  );
});
