import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { randomApiKeys } from './api-keys.ts';

describe('an API key', () => {
  const keys = randomApiKeys();

  it('shows what it is and has at least 192 random bits', () => {
    const random = /^inlet_([\w-]+)$/.exec(keys.issue().key.reveal())?.[1] ?? '';
    expect(Buffer.from(random, 'base64url').length * 8).toBeGreaterThanOrEqual(192);
  });

  it('fits into an Authorization header as it is', () => {
    expect(`Bearer ${keys.issue().key.reveal()}`).toMatch(/^Bearer +(\S{1,200})$/);
  });

  it('is never the same twice', () => {
    const issued = Array.from({ length: 1_000 }, () => keys.issue());
    expect(new Set(issued.map(({ key }) => key.reveal())).size).toBe(1_000);
    expect(new Set(issued.map(({ hash }) => Buffer.from(hash).toString('hex'))).size).toBe(1_000);
  });

  it('uses every bit of its random part', () => {
    const randoms = Array.from({ length: 200 }, () => Buffer.from(keys.issue().key.reveal().slice(6), 'base64url'));
    const everSet = randoms.reduce((sum, bytes) => Buffer.from(sum.map((byte, n) => byte | (bytes[n] ?? 0))));
    const everClear = randoms.reduce((sum, bytes) => Buffer.from(sum.map((byte, n) => byte & (bytes[n] ?? 0))));
    expect(everSet.every((byte) => byte === 0xff)).toBe(true);
    expect(everClear.every((byte) => byte === 0)).toBe(true);
  });

  it('is found again by its hash, also by another process', () => {
    const { key, hash } = keys.issue();
    expect(keys.hash(key.reveal())).toEqual(hash);
    expect(randomApiKeys().hash(key.reveal())).toEqual(hash);
  });

  it('has a hash that stays the same over releases, because hashes are kept', () => {
    expect(Buffer.from(keys.hash('inlet_example')).toString('hex')).toBe(
      'bbd5ffbb4f37922d71dde57a56f0911481f5ae3bc755be6fe8a6c6cdcde599ef',
    );
  });

  it('is not printed, and neither is its hash a way back to it', () => {
    const issued = keys.issue();
    const printed =
      inspect(issued, { depth: Infinity, showHidden: true }) + JSON.stringify(issued) + String(issued.key);
    expect(printed).not.toContain(issued.key.reveal());
    expect(Buffer.from(issued.hash).toString('latin1')).not.toContain(issued.key.reveal());
  });
});
