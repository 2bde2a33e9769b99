import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { randomKeys } from './random-keys.ts';

describe.each([
  { kind: 'apiKey', beginning: 'inlet_' },
  { kind: 'userToken', beginning: 'inletu_' },
] as const)('a key of the kind $kind', ({ kind, beginning }) => {
  const keys = randomKeys(kind);
  const randomPart = (): Buffer => {
    const key = keys.issue().key.reveal();
    expect(key.startsWith(beginning)).toBe(true);
    return Buffer.from(key.slice(beginning.length), 'base64url');
  };

  it('shows what it is and has at least 192 random bits', () => {
    expect(keys.issue().key.reveal().slice(beginning.length)).toMatch(/^[\w-]+$/);
    expect(randomPart().length * 8).toBeGreaterThanOrEqual(192);
  });

  it('fits into a header as it is', () => {
    expect(keys.issue().key.reveal()).toMatch(/^[\x21-\x7e]{1,200}$/);
  });

  it('is never the same twice', () => {
    const issued = Array.from({ length: 1_000 }, () => keys.issue());
    expect(new Set(issued.map(({ key }) => key.reveal())).size).toBe(1_000);
    expect(new Set(issued.map(({ hash }) => Buffer.from(hash).toString('hex'))).size).toBe(1_000);
  });

  it('uses every bit of its random part', () => {
    const randoms = Array.from({ length: 200 }, randomPart);
    const everSet = randoms.reduce((sum, bytes) => Buffer.from(sum.map((byte, n) => byte | (bytes[n] ?? 0))));
    const everClear = randoms.reduce((sum, bytes) => Buffer.from(sum.map((byte, n) => byte & (bytes[n] ?? 0))));
    expect(everSet.every((byte) => byte === 0xff)).toBe(true);
    expect(everClear.every((byte) => byte === 0)).toBe(true);
  });

  it('is found again by its hash, also by another process', () => {
    const { key, hash } = keys.issue();
    expect(keys.hash(key.reveal())).toEqual(hash);
    expect(randomKeys(kind).hash(key.reveal())).toEqual(hash);
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

describe('the kinds of keys', () => {
  it('can be told from each other by their beginnings', () => {
    const begins = /^inlet_/;
    expect(randomKeys('apiKey').issue().key.reveal()).toMatch(begins);
    expect(randomKeys('userToken').issue().key.reveal()).not.toMatch(begins);
  });
});
