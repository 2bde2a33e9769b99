import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isConsoleUrl, toReturnPath } from './console-address.ts';

describe('toReturnPath', () => {
  it.each([
    '/console/',
    '/console/imports/17',
    '/console/imports?status=3&path=a%2Fb',
    '/console/segments/500001/composition#top',
    '/console/authors',
  ])('keeps the path of a page: %s', (path) => {
    expect(toReturnPath(path)).toBe(path);
  });

  it.each([
    undefined,
    '',
    '/',
    '/console',
    '/consoles/',
    '/v1/limits',
    'console/',
    '//evil.example',
    '//evil.example/console/',
    '/\\evil.example',
    '\\/evil.example',
    '/console/\\..\\..\\evil',
    'https://evil.example',
    'https://evil.example/console/',
    'https:/console/',
    'javascript:alert(1)',
    'data:text/html,/console/',
    '/console/../v1/limits',
    '/console/%2e%2e/v1/limits',
    '/console/..//evil.example',
    '/console/.././/evil.example',
    '/console/%2e%2e//evil.example',
    ' /console/',
    '/console/ page',
    '/console/\n//evil.example',
    '/\t/evil.example/console/',
    '/console/\u0000',
    '/console/ä',
    '/console/auth/sign-in',
    '/console/auth/callback?code=x',
    '/console/auth',
    '/console/x/../auth/sign-in',
    '/console/sign-in',
    `/console/${'x'.repeat(1_000)}`,
    '%2Fconsole%2F',
    '/%2F/evil.example',
  ])('replaces %j with the start page', (text) => {
    expect(toReturnPath(text)).toBe('/console/');
  });

  it('never leads a browser to another site or out of the console', () => {
    const piece = fc.constantFrom(
      '/',
      '//',
      '\\',
      '..',
      '.',
      '%2e',
      '%2f',
      '%5c',
      'console',
      'evil.example',
      '@',
      ':',
      '?',
      '#',
      '\t',
      'https:',
    );
    const given = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(
        fc.oneof(
          given,
          given.map((text) => `/console/${text}`),
          fc.string(),
        ),
        (text) => {
          const { origin, pathname } = new URL(toReturnPath(text), 'https://inlet.example');
          expect(origin).toBe('https://inlet.example');
          expect(pathname.startsWith('/console/')).toBe(true);
        },
      ),
    );
  });
});

describe('isConsoleUrl', () => {
  it.each(['https://inlet.example.com', 'https://inlet.example.com:8443/', 'http://127.0.0.1:8080', 'http://[::1]'])(
    'accepts %s',
    (url) => {
      expect(isConsoleUrl(url)).toBe(true);
    },
  );

  it.each([
    'http://inlet.example.com',
    'https://inlet.example.com/console',
    'https://u:p@x.example',
    'x',
    '',
    'ftp://x',
  ])('rejects %j', (url) => {
    expect(isConsoleUrl(url)).toBe(false);
  });
});
