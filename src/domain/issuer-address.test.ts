import { describe, expect, it } from 'vitest';
import { isIssuerAddress, isKeySetAddress } from './issued-token.ts';

describe('an issuer URL', () => {
  it.each([
    'https://login.example',
    'https://login.example:8443/realms/one/',
    'http://127.0.0.1:9',
    'http://[::1]:9/a',
  ])('accepts the issuer URL %s', (address) => {
    expect(isIssuerAddress(address)).toBe(true);
  });

  it.each([
    'http://login.example',
    'http://localhost:9',
    'http://127.0.0.1.example',
    'http://127.0.0.2',
    'https://user@login.example',
    'https://user:password@login.example',
    'https://login.example?a=b',
    'https://login.example#a',
    'https://login.example ',
    'login.example',
    'ftp://login.example',
    'file:///etc/passwd',
    '',
  ])('rejects the issuer URL %j', (address) => {
    expect(isIssuerAddress(address)).toBe(false);
  });

  it('allows a key set URL without TLS only if the issuer URL does not use TLS either', () => {
    expect(isKeySetAddress('https://keys.example/v1?tenant=a', 'https://login.example')).toBe(true);
    expect(isKeySetAddress('http://127.0.0.1/keys', 'http://127.0.0.1')).toBe(true);
    expect(isKeySetAddress('http://127.0.0.1/keys', 'https://login.example')).toBe(false);
    expect(isKeySetAddress('http://keys.example', 'http://127.0.0.1')).toBe(false);
    expect(isKeySetAddress('/keys', 'https://login.example')).toBe(false);
  });
});
