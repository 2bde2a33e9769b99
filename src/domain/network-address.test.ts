import * as fc from 'fast-check';
import { BlockList, isIP } from 'node:net';
import { describe, expect, it } from 'vitest';
import { isPublicAddress, mayReach, parseAddress, parseNetwork } from './network-address.ts';

/** The same rule, implemented with Node's BlockList. Both implementations must agree on every address. */
const special4 = new BlockList();
for (const [base, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const) {
  special4.addSubnet(base, bits);
}
const special6 = new BlockList();
for (const [base, bits] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['2620:4f:8000::', 48],
  ['3fff::', 20],
] as const) {
  special6.addSubnet(base, bits, 'ipv6');
}

type Bytes4 = readonly [number, number, number, number];
const dotted = (bytes: Bytes4): string => bytes.join('.');
const hex = (number: number): string => number.toString(16);
const inGroups = ([a, b, c, d]: Bytes4): string => `${hex(a * 256 + b)}:${hex(c * 256 + d)}`;
const byte = fc.integer({ min: 0, max: 255 });
/** Any address, biased toward the boundaries of the list above. */
const bytes4: fc.Arbitrary<Bytes4> = fc.oneof(
  fc.tuple(byte, byte, byte, byte),
  fc.tuple(fc.constantFrom(0, 10, 100, 127, 168, 169, 172, 192, 198, 203, 224), byte, byte, byte),
  fc.tuple(
    fc.constantFrom(9, 10, 11, 126, 127, 128, 169, 172, 192, 198, 223, 224),
    fc.constantFrom(0, 15, 16, 18, 19, 20, 31, 32, 63, 64, 127, 128, 168, 254),
    fc.constantFrom(0, 1, 2, 99, 100, 113, 255),
    byte,
  ),
);
const group = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff }));
const first = fc.constantFrom(
  0,
  0x64,
  0x1fff,
  0x2000,
  0x2001,
  0x2002,
  0x2620,
  0x3ffe,
  0x3fff,
  0x4000,
  0xfc00,
  0xfe80,
  0xff02,
);
const second = fc.constantFrom(0, 0x1ff, 0x200, 0xdb8, 0xdb9, 0x4f, 0xff9b, 0xfff, 0x1000);
const groups8 = fc.oneof(
  fc.array(group, { minLength: 8, maxLength: 8 }),
  fc
    .tuple(first, second, fc.array(group, { minLength: 6, maxLength: 6 }))
    .map(([one, two, others]) => [one, two, ...others]),
);

/**
 * Returns every notation of eight groups: in full, with leading zeros, in uppercase, and with each run of zeros
 * omitted.
 */
function spellingsOf(groups: readonly number[]): string[] {
  const written = groups.map(hex);
  const padded = written.map((text) => text.padStart(4, '0'));
  const spellings = [written.join(':'), padded.join(':'), padded.join(':').toUpperCase()];
  for (let from = 0; from < 8; from++) {
    for (let to = from + 1; to <= 8 && groups.slice(from, to).every((one) => one === 0); to++) {
      spellings.push(`${written.slice(0, from).join(':')}::${written.slice(to).join(':')}`);
    }
  }
  const [g = 0, h = 0] = groups.slice(6);
  spellings.push(`${written.slice(0, 6).join(':')}:${dotted([g >> 8, g & 255, h >> 8, h & 255])}`);
  return spellings;
}

describe('isPublicAddress', () => {
  it('agrees with the BlockList on every IPv4 address, in every embedding', () => {
    const seen = new Set<boolean>();
    fc.assert(
      fc.property(bytes4, (bytes) => {
        const text = dotted(bytes);
        const expected = !special4.check(text);
        seen.add(expected);
        const mapped = [`::ffff:${text}`, `::FFFF:${inGroups(bytes)}`, `0:0:0:0:0:ffff:${text}`];
        const nat64 = [`64:ff9b::${text}`, `64:ff9b::${inGroups(bytes)}`, `0064:FF9B:0:0:0:0:${inGroups(bytes)}`];
        for (const form of [text, ...mapped, ...nat64]) expect(isPublicAddress(form), form).toBe(expected);
        for (const form of [`::${text}`, `2002:${inGroups(bytes)}::1`, `64:ff9b:1::${text}`, `2001::${text}`]) {
          expect(isPublicAddress(form), form).toBe(false);
        }
      }),
      { numRuns: 2_000 },
    );
    expect(seen.size).toBe(2);
  });

  it('agrees with the BlockList on every IPv6 address, in every notation', () => {
    const seen = new Set<boolean>();
    fc.assert(
      fc.property(groups8, (groups) => {
        const spellings = spellingsOf(groups);
        const [text = ''] = spellings;
        const [one = 0] = groups;
        const holdsIpv4 = groups.slice(0, 5).every((each) => each === 0) && groups[5] === 0xffff;
        fc.pre(!holdsIpv4 && !text.startsWith('64:ff9b:0:0:0:0:'));
        const expected = one >> 13 === 1 && !special6.check(text, 'ipv6');
        seen.add(expected);
        for (const spelling of spellings) {
          expect(isIP(spelling), spelling).toBe(6);
          expect(isPublicAddress(spelling), spelling).toBe(expected);
        }
      }),
      { numRuns: 2_000 },
    );
    expect(seen.size).toBe(2);
  });

  it('returns false for text that Node does not parse as an address', () => {
    const piece = fc.constantFrom(
      '1',
      '0',
      '255',
      '256',
      '01',
      '0x7f',
      '.',
      ':',
      '::',
      'ffff',
      '12345',
      '%eth0',
      ' ',
      '/8',
      '1.1.1.1',
    );
    const text = fc.oneof(
      fc.string({ maxLength: 40 }),
      fc.array(piece, { maxLength: 12 }).map((all) => all.join('')),
    );
    fc.assert(
      fc.property(text, (given) => {
        const isAddress = isIP(given) !== 0 && !given.includes('%');
        expect(parseAddress(given) !== null, given).toBe(isAddress);
        expect(isPublicAddress(given) && !isAddress, given).toBe(false);
      }),
      { numRuns: 5_000 },
    );
  });

  it.each(['52.216.1.2', '8.8.8.8', '2600:1fa0:8000::1', '2a05:d050::1', '64:ff9b::52.216.1.2', '::ffff:52.216.1.2'])(
    'returns true for %s, a possible storage address',
    (text) => {
      expect(isPublicAddress(text)).toBe(true);
    },
  );
});

describe('a configured network', () => {
  it('allows only public addresses and addresses in a configured network, in both notations', () => {
    const networks = ['127.0.0.1', '10.1.0.0/16', 'fd00:1::/32'].flatMap((text) => parseNetwork(text) ?? []);
    expect(networks).toHaveLength(3);
    for (const open of ['127.0.0.1', '::ffff:127.0.0.1', '10.1.255.255', 'fd00:1::9', '52.216.1.2']) {
      expect(mayReach(open, networks), open).toBe(true);
    }
    for (const closed of ['127.0.0.2', '10.2.0.0', 'fd00:2::9', '169.254.169.254', '::1', 'localhost', '']) {
      expect(mayReach(closed, networks), closed).toBe(false);
    }
  });

  it.each([
    '',
    '/8',
    '10.0.0.0/',
    '10.0.0.0/33',
    '10.0.0.0/08',
    '10.0.0.1/8',
    '::/129',
    'localhost',
    '10.0.0.0/8/8',
    ' 10.0.0.0/8',
  ])('rejects the configured network "%s"', (text) => {
    expect(parseNetwork(text)).toBeNull();
  });
});
