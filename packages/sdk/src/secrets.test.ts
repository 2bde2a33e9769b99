import { format, inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { Inlet, type InletSettings } from './inlet.ts';

const secrets = ['sk-very-secret', 'user-very-secret', 'storage-very-secret'] as const;
const storage = { region: 'r', bucket: 'b', prefix: 'p/', accessKeyId: 'id', secretAccessKey: secrets[2] };
const settings: InletSettings = {
  url: 'http://127.0.0.1:1',
  apiKey: secrets[0],
  userToken: secrets[1],
  storage,
  retry: { attempts: 1 },
};

/** Every text that a program could print for a value. */
function everyTextOf(value: unknown): string {
  return [
    inspect(value, { showHidden: true, depth: 10, getters: true }),
    format('%s %o %O %j', value, value, value, value),
    String(value),
    JSON.stringify(value),
    JSON.stringify(Object.getOwnPropertyDescriptors(value)),
  ].join('\n');
}

describe('secrets', () => {
  it('does not print secrets when a program prints the client', () => {
    const text = everyTextOf(new Inlet(settings));
    expect(text.length).toBeGreaterThan(20);
    for (const secret of secrets) expect(text).not.toContain(secret);
  });

  it('does not include secrets in problems', async () => {
    const inlet = new Inlet(settings);
    const results = [
      await inlet.listAudiences(),
      await inlet.upload([{ name: 'a.csv', body: new Uint8Array(1) }], { signal: AbortSignal.timeout(200) }),
      await inlet.upload(['/nowhere/a.csv']),
    ];
    for (const result of results) {
      expect(result.ok).toBe(false);
      for (const secret of secrets) expect(everyTextOf(result)).not.toContain(secret);
    }
  });

  it.each([
    ['apiKey', { ...settings, apiKey: `${secrets[0]}\n` }],
    ['apiKey', { ...settings, apiKey: '' }],
    ['userToken', { ...settings, userToken: `${secrets[1]} ` }],
    ['secretAccessKey', { ...settings, storage: { ...storage, secretAccessKey: `ä${secrets[2]}` } }],
  ])('does not include the secret %s in a validation error', (name, given) => {
    const make = (): unknown => new Inlet(given);
    expect(make).toThrow(new TypeError(`${name} must be printable ASCII without spaces and must not be empty`));
  });
});

describe('a URL', () => {
  const rejected = [
    'http://inlet.example',
    'ftp://inlet.example',
    'inlet.example',
    'https://a:b@inlet.example',
    'https://i?a=1',
  ];
  const accepted = [
    'https://inlet.example',
    'https://inlet.example/below/',
    'http://localhost:8080',
    'http://[::1]:80',
  ];
  const inlet = (url: string, changes: Partial<InletSettings> = {}): Inlet =>
    new Inlet({ ...settings, url, ...changes });
  const withStorageAt = (endpoint: string, changes: Partial<InletSettings> = {}): Inlet =>
    new Inlet({ ...settings, storage: { ...storage, endpoint }, ...changes });

  it.each(rejected)('rejects the URL %s for the API and the storage', (address) => {
    expect(() => inlet(address)).toThrow(/^url must/);
    expect(() => withStorageAt(address)).toThrow(/^storage\.endpoint must/);
  });

  it.each(accepted)('accepts the URL %s for the API and the storage', (address) => {
    expect(inlet(address)).toBeInstanceOf(Inlet);
    expect(withStorageAt(address)).toBeInstanceOf(Inlet);
  });

  it('accepts an http URL with allowHttp', () => {
    expect(inlet('http://inlet.internal', { allowHttp: true })).toBeInstanceOf(Inlet);
    expect(withStorageAt('http://storage.internal', { allowHttp: true })).toBeInstanceOf(Inlet);
  });
});
