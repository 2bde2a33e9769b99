import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { randomKeys } from './keys.ts';

describe.each([
  { kind: 'apiKey', beginning: 'inlet_test_key_' },
  { kind: 'userToken', beginning: 'inlet_test_user_' },
] as const)('an issued $kind', ({ kind, beginning }) => {
  const keys = randomKeys(kind, 'test');
  const randomPart = (): string => {
    const key = keys.issue().key.reveal();
    expect(key.startsWith(beginning)).toBe(true);
    return key.slice(beginning.length, -6);
  };

  it('an issued key starts with its kind and contains at least 192 random bits', () => {
    expect(randomPart()).toMatch(/^[0-9A-Za-z]+$/);
    expect(randomPart().length * Math.log2(62)).toBeGreaterThanOrEqual(192);
  });

  it('an issued key can be recognized by its format alone', () => {
    const key = keys.issue().key.reveal();
    expect(keys.mayHaveIssued(key)).toBe(true);
    expect(randomKeys(kind, 'live').mayHaveIssued(key)).toBe(true);
    expect(randomKeys(kind === 'apiKey' ? 'userToken' : 'apiKey', 'test').mayHaveIssued(key)).toBe(false);
    expect(keys.mayHaveIssued(`${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`)).toBe(false);
  });

  it('an issued key needs no escaping in a header', () => {
    expect(keys.issue().key.reveal()).toMatch(/^[\x21-\x7e]{1,200}$/);
  });

  it('every issued key is different', () => {
    const issued = Array.from({ length: 1_000 }, () => keys.issue());
    expect(new Set(issued.map(({ key }) => key.reveal())).size).toBe(1_000);
    expect(new Set(issued.map(({ hash }) => Buffer.from(hash).toString('hex'))).size).toBe(1_000);
  });

  it('the random part of a key uses every character in every position', () => {
    const randoms = Array.from({ length: 2_000 }, randomPart);
    const places = Array.from(randoms[0] ?? '', (_, place) => new Set(randoms.map((random) => random[place])));
    expect(places.map(({ size }) => size)).toEqual(places.map(() => 62));
  });

  it('an issued key has the same hash in every process', () => {
    const { key, hash } = keys.issue();
    expect(keys.hash(key.reveal())).toEqual(hash);
    expect(randomKeys(kind, 'test').hash(key.reveal())).toEqual(hash);
  });

  it('an issued key has a hash that is stable across releases, because hashes are stored', () => {
    expect(Buffer.from(keys.hash('inlet_example')).toString('hex')).toBe(
      'bbd5ffbb4f37922d71dde57a56f0911481f5ae3bc755be6fe8a6c6cdcde599ef',
    );
  });

  it('an issued key is never printed and cannot be derived from its hash', () => {
    const issued = keys.issue();
    const printed =
      inspect(issued, { depth: Infinity, showHidden: true }) + JSON.stringify(issued) + String(issued.key);
    expect(printed).not.toContain(issued.key.reveal());
    expect(Buffer.from(issued.hash).toString('latin1')).not.toContain(issued.key.reveal());
  });
});

describe('key kinds', () => {
  it('distinguishes key kinds by their prefix', () => {
    const begins = /^inlet_live_key_/;
    expect(randomKeys('apiKey', 'live').issue().key.reveal()).toMatch(begins);
    expect(randomKeys('userToken', 'live').issue().key.reveal()).not.toMatch(begins);
  });
});
