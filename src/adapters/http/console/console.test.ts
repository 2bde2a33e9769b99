import Fastify from 'fastify';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Api } from '../api.ts';
import { addProblemAnswers } from '../problems.ts';
import { cookieNamesFor, readCookie, setCookie } from './cookies.ts';
import { acceptsGzip, addStaticFiles, readStaticFiles } from './static-files.ts';

const page = `<!doctype html><title>Inlet</title>${' '.repeat(500)}`;
const script = `export const one = 1;${'/* comment */'.repeat(100)}`;

describe('the console files', () => {
  let folder: string;
  let api: Api;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'inlet-console-'));
    mkdirSync(join(folder, 'dist/assets'), { recursive: true });
    writeFileSync(join(folder, 'secret.txt'), 'secret');
    writeFileSync(join(folder, 'dist/index.html'), page);
    writeFileSync(join(folder, 'dist/assets/index-AbC123.js'), script);
    writeFileSync(join(folder, 'dist/favicon.svg'), '<svg/>');
    api = apiWith(join(folder, 'dist'));
  });
  afterEach(async () => {
    await api.close();
    rmSync(folder, { recursive: true });
  });

  function apiWith(dist: string): Api {
    const made: Api = Fastify();
    addProblemAnswers(made);
    addStaticFiles(made, { files: readStaticFiles(dist), storageOrigin: 'https://storage.example' });
    return made;
  }

  it('are served with their content types, and every other path returns the page', async () => {
    for (const [path, type, body] of [
      ['/console/', 'text/html; charset=utf-8', page],
      ['/console/index.html', 'text/html; charset=utf-8', page],
      ['/console/imports/17?x=1', 'text/html; charset=utf-8', page],
      ['/console/assets/index-AbC123.js', 'text/javascript; charset=utf-8', script],
      ['/console/favicon.svg', 'image/svg+xml; charset=utf-8', '<svg/>'],
    ] as const) {
      const answer = await api.inject(path);
      expect([answer.statusCode, answer.headers['content-type'], answer.body], path).toEqual([200, type, body]);
      const head = await api.inject({ method: 'HEAD', url: path });
      expect([head.statusCode, head.body, head.headers['content-length']], path).toEqual([
        200,
        '',
        String(Buffer.byteLength(body)),
      ]);
    }
    expect((await api.inject('/console')).headers.location).toBe('/console/');
  });

  it('with a hash in their names can be cached forever, and the page must be revalidated', async () => {
    const asset = await api.inject('/console/assets/index-AbC123.js');
    expect(asset.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    for (const path of ['/console/', '/console/imports', '/console/favicon.svg'])
      expect((await api.inject(path)).headers['cache-control'], path).toBe('no-cache');
  });

  it('are compressed if the client accepts it, with an entity tag for each form', async () => {
    const url = '/console/assets/index-AbC123.js';
    const plain = await api.inject(url);
    const compressed = await api.inject({ url, headers: { 'accept-encoding': 'br, gzip' } });
    expect(compressed.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(compressed.rawPayload).toString()).toBe(script);
    expect(compressed.headers['vary']).toBe('Accept-Encoding');
    expect(compressed.headers.etag).not.toBe(plain.headers.etag);
    for (const { headers } of [plain, compressed]) {
      const etag = headers.etag ?? '';
      const known = { 'if-none-match': etag, 'accept-encoding': headers['content-encoding'] ?? 'identity' };
      const again = await api.inject({ url, headers: known });
      expect([again.statusCode, again.body]).toEqual([304, '']);
    }
  });

  it('allow only scripts from this server, and uploads to the object storage', async () => {
    const policy = String((await api.inject('/console/')).headers['content-security-policy']);
    expect(policy).toContain("default-src 'self'");
    expect(policy).toContain("connect-src 'self' https://storage.example;");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
  });

  it.each(['/console/assets/missing.js', '/console/assets/', '/console/auth/missing'])(
    'there is no page at %s',
    async (url) => {
      const answer = await api.inject(url);
      expect(answer.json()).toMatchObject({ status: 404, code: 'not_found' });
    },
  );

  it.each([
    '/console/../secret.txt',
    '/console/..%2fsecret.txt',
    '/console/%2e%2e/secret.txt',
    '/console/..\\secret.txt',
  ])('a path cannot escape the folder: %s', async (path) => {
    const address = await api.listen({ host: '127.0.0.1', port: 0 });
    const body = await new Promise<string>((resolve, reject) => {
      // fetch would normalize the path.
      const sent = request(address, { path }, (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString())).on('end', () => resolve(text));
      });
      sent.on('error', reject).end();
    });
    expect(body === page || body.includes('not_found')).toBe(true);
  });

  it('the console returns 404 if it has not been built', async () => {
    const empty = apiWith(join(folder, 'missing'));
    const answer = await empty.inject('/console/');
    expect(answer.json()).toMatchObject({ status: 404, code: 'not_found' });
    await empty.close();
  });
});

describe('acceptsGzip', () => {
  it.each(['gzip', 'br, gzip', 'deflate, GZIP;q=0.5', '*', 'gzip;q=1.0'])('is true for %s', (header) => {
    expect(acceptsGzip(header)).toBe(true);
  });

  it.each([undefined, '', 'br', 'gzip;q=0', 'gzip; q=0.000', 'x-gzip'])('is false for %s', (header) => {
    expect(acceptsGzip(header)).toBe(false);
  });
});

describe('cookies', () => {
  it('are bound to the host over TLS', async () => {
    const api = Fastify();
    const names = cookieNamesFor('https://inlet.example.com');
    api.get('/', async (_request, reply) => setCookie(reply, { name: names.session, value: 'x' }, names));
    const { headers } = await api.inject('/');
    expect(headers['set-cookie']).toBe('__Host-inlet_session=x; Path=/; HttpOnly; SameSite=Lax; Secure');
    expect(cookieNamesFor('http://127.0.0.1:8080').session).toBe('inlet_session');
  });

  it.each([
    ['a=1; inlet_session=x; b=2', 'x'],
    ['inlet_session=x=y', 'x=y'],
    ['inlet_session=first; inlet_session=second', 'first'],
    ['xinlet_session=x', null],
    ['inlet_session', ''],
    ['', null],
    [undefined, null],
  ])('reads the session from %j', (header, value) => {
    expect(readCookie(header, 'inlet_session')).toBe(value);
  });
});
