import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatKey, hideKeys, keyAlphabet, mayBeKey, parseKey, randomLength, type KeyKind } from './key-format.ts';

const kinds: readonly KeyKind[] = ['key', 'user'];
const letters = (text: string, length: { minLength: number; maxLength: number }): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...text.split('')), ...length });
const environments = fc
  .tuple(
    letters('abcdefghijklmnopqrstuvwxyz', { minLength: 1, maxLength: 1 }),
    letters('abcdefghijklmnopqrstuvwxyz0123456789', { minLength: 0, maxLength: 15 }),
  )
  .map((parts) => parts.join(''));
const randoms = letters(keyAlphabet, { minLength: randomLength, maxLength: randomLength });
const parts = fc.record({ kind: fc.constantFrom(...kinds), environment: environments, random: randoms });
const keys = parts.map(({ kind, environment, random }) => formatKey(kind, environment, random));
const bytes = fc.uint8Array().map((list) => Buffer.from(list).toString('latin1'));
const oldKeys = letters(`${keyAlphabet}-_`, { minLength: 32, maxLength: 32 });

describe('a key', () => {
  it('keeps the key format stable across releases, because partners store their keys', () => {
    const key = formatKey('key', 'live', '0123456789ABCDEFGHIJKLMNOPQRSTUVW');
    expect(key).toBe('inlet_live_key_0123456789ABCDEFGHIJKLMNOPQRSTUVW2ueyTX');
  });

  it('parses a key into its parts', () => {
    fc.assert(
      fc.property(parts, ({ kind, environment, random }) => {
        expect(parseKey(formatKey(kind, environment, random))).toEqual({ kind, environment });
      }),
    );
  });

  it('recognizes a key only as its own kind', () => {
    fc.assert(
      fc.property(keys, (key) => {
        const kind = parseKey(key)?.kind;
        expect(kinds.filter((one) => mayBeKey(one, key))).toEqual([kind]);
      }),
    );
  });

  it('does not recognize a key with one changed character', () => {
    fc.assert(
      fc.property(keys, fc.nat(), fc.constantFrom(...`${keyAlphabet}_- \n`.split('')), (key, anywhere, letter) => {
        const place = anywhere % key.length;
        fc.pre(key[place] !== letter);
        const changed = key.slice(0, place) + letter + key.slice(place + 1);
        expect(parseKey(changed)).toBeNull();
        expect(kinds.some((kind) => mayBeKey(kind, changed))).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });

  it('does not recognize a key with swapped adjacent characters or with a missing or doubled character', () => {
    fc.assert(
      fc.property(keys, fc.nat(), (key, anywhere) => {
        const place = anywhere % (key.length - 1);
        const [one = '', other = ''] = [key[place], key[place + 1]];
        const [before, after] = [key.slice(0, place), key.slice(place + 2)];
        const changed = [before + one + after, before + one + one + other + after];
        if (one !== other) changed.push(before + other + one + after);
        for (const text of changed) expect(parseKey(text), text).toBeNull();
      }),
      { numRuns: 2_000 },
    );
  });

  it('does not recognize a key with text before or after it', () => {
    fc.assert(
      fc.property(keys, fc.string({ minLength: 1 }), (key, more) => {
        expect([parseKey(key + more), parseKey(more + key)]).toEqual([null, null]);
      }),
    );
  });

  it('does not recognize other text as a key', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), bytes, oldKeys), (text) => {
        expect(parseKey(text)).toBeNull();
        expect(parseKey(`inlet_live_key_${text}`)).toBeNull();
      }),
    );
  });

  it.each(['', 'Live', 'a_b', '1live', 'x'.repeat(17), 'ä', 'live\n'])(
    'rejects the environment %j in a key',
    (name) => {
      expect(() => formatKey('key', name, 'x'.repeat(randomLength))).toThrow(/environment/);
    },
  );

  it.each(['', 'short', '!'.repeat(randomLength)])('rejects the random part %j in a key', (random) => {
    expect(() => formatKey('key', 'live', random)).toThrow(Error);
  });
});

describe('a key in the previous format', () => {
  it('recognizes a key in the previous format as its own kind and does not parse it as the new format', () => {
    fc.assert(
      fc.property(oldKeys, (random) => {
        expect(kinds.filter((kind) => mayBeKey(kind, `inlet_${random}`))).toEqual(['key']);
        expect(kinds.filter((kind) => mayBeKey(kind, `inletu_${random}`))).toEqual(['user']);
        expect([parseKey(`inlet_${random}`), parseKey(`inletu_${random}`)]).toEqual([null, null]);
      }),
    );
  });

  it.each(['inlet_', 'inletu_', 'inlet_short', `inlet_${'a'.repeat(33)}`, `Inlet_${'a'.repeat(32)}`, 'x'.repeat(200)])(
    'does not recognize %j as a key in the previous format',
    (text) => {
      expect(kinds.some((kind) => mayBeKey(kind, text))).toBe(false);
    },
  );
});

describe('hideKeys', () => {
  it('masks a key in a log line regardless of the surrounding text', () => {
    const around = letters('"/ :={}\\é', { minLength: 0, maxLength: 5 });
    const all = fc.oneof(
      keys,
      oldKeys.map((random) => `inlet_${random}`),
      oldKeys.map((random) => `inletu_${random}`),
    );
    fc.assert(
      fc.property(around, all, around, (before, key, after) => {
        expect(hideKeys(`${before}${key}${after} ${key}`)).toBe(`${before}[key]${after} [key]`);
      }),
    );
  });

  it('masks a key with a wrong checksum', () => {
    expect(hideKeys(`GET /x/inlet_live_key_${'a'.repeat(39)}?`)).toBe('GET /x/[key]?');
  });

  it('leaves other text unchanged', () => {
    for (const line of [
      '',
      'inlet',
      'inlet_tokens_waiting 1',
      'inlet_http_request_seconds_bucket{le="1"}',
      'INLET_API_PORT',
    ]) {
      expect(hideKeys(line)).toBe(line);
    }
  });
});
