import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { reportKey } from '../../adapters/vault/keys.ts';
import { Secret } from '../secret.ts';
import { cosSquaredNoise } from './noise.ts';

const { draw } = reportKey(new Secret('5a'.repeat(32)), []);
const most = fc.integer({ min: 1, max: 100 });

describe('noise', () => {
  it('draws deterministic integers within the bounds', () => {
    fc.assert(
      fc.property(most, fc.array(fc.oneof(fc.string(), fc.integer(), fc.constant(null))), (bound, about) => {
        const value = cosSquaredNoise(draw, bound)(about);
        expect(Number.isInteger(value)).toBe(true);
        expect(Math.abs(value)).toBeLessThanOrEqual(bound);
        expect(cosSquaredNoise(draw, bound)(about)).toBe(value);
      }),
    );
  });

  it('reaches both bounds and never exceeds them', () => {
    expect(cosSquaredNoise(() => 0, 15)([])).toBe(-15);
    expect(cosSquaredNoise(() => 1 - 2 ** -48, 15)([])).toBe(15);
  });

  it('follows the cos² distribution', () => {
    const noise = cosSquaredNoise(draw, 15);
    const times = 20_000;
    const counts = new Map<number, number>();
    for (let n = 0; n < times; n += 1) {
      const value = noise([n]);
      counts.set(value, (counts.get(value) ?? 0) + 1);
    }
    for (let value = -15; value <= 15; value += 1) {
      const expected = (times * Math.cos((Math.PI * value) / 32) ** 2) / 16;
      expect(Math.abs((counts.get(value) ?? 0) - expected)).toBeLessThan(5 * Math.sqrt(expected) + 1);
    }
  });

  it('draws different noise with a different key', () => {
    const other = reportKey(new Secret('5b'.repeat(32)), []);
    const values = (drawn: typeof draw): number[] =>
      Array.from({ length: 50 }, (_, n) => cosSquaredNoise(drawn, 15)(['cell', n]));
    expect(values(other.draw)).not.toEqual(values(draw));
  });

  it('draws zero when noise is disabled', () => {
    expect(cosSquaredNoise(draw, 0)(['cell'])).toBe(0);
  });
});
