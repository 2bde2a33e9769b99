import { describe, expect, it } from 'vitest';
import { countWrongKeys } from './wrong-key-limit.ts';

describe('counting invalid keys per address', () => {
  const counting = (most: number) => {
    const clock = { ms: 5_000 };
    return { clock, counts: countWrongKeys(most, 60, () => clock.ms) };
  };

  it('throttles an address for the rest of the window after too many invalid keys', () => {
    const { clock, counts } = counting(2);
    counts.note('203.0.113.7');
    expect(counts.secondsToWait('203.0.113.7')).toBeNull();
    clock.ms += 20_500;
    counts.note('203.0.113.7');
    expect(counts.secondsToWait('203.0.113.7')).toBe(40);
    clock.ms += 39_500;
    expect(counts.secondsToWait('203.0.113.7')).toBeNull();
  });

  it('does not count invalid keys from one address against another address', () => {
    const { counts } = counting(1);
    counts.note('203.0.113.7');
    expect(counts.secondsToWait('203.0.113.8')).toBeNull();
  });

  it('counts invalid keys per IPv6 /64 network and treats both notations of an IPv4 address as one', () => {
    const { counts } = counting(1);
    counts.note('2001:db8::1');
    counts.note('203.0.113.7');
    expect(counts.secondsToWait('2001:db8:0:0:ffff::2')).toBe(60);
    expect(counts.secondsToWait('2001:db8:0:1::1')).toBeNull();
    expect(counts.secondsToWait('::ffff:203.0.113.7')).toBe(60);
    expect(counts.secondsToWait('::ffff:203.0.113.8')).toBeNull();
  });

  it('uses a single counter for requests whose address the proxy does not report', () => {
    const { counts } = counting(1);
    counts.note('unknown');
    expect(counts.secondsToWait('_hidden')).toBe(60);
  });

  it('bounds memory use by evicting the address that has been idle longest', () => {
    const { counts } = counting(1);
    const noteFrom = (number: number): void => counts.note(`10.0.${number >> 8}.${number & 255}`);
    for (let number = 0; number < 10_000; number++) noteFrom(number);
    noteFrom(0);
    noteFrom(10_000);
    expect(counts.secondsToWait('10.0.0.0')).toBe(60);
    expect(counts.secondsToWait('10.0.0.1')).toBeNull();
    expect(counts.secondsToWait('10.0.0.2')).toBe(60);
    expect(counts.secondsToWait('10.0.39.16')).toBe(60);
  });
});
