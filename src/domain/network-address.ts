// Addresses are 128-bit numbers. An IPv4 address has the same number as its IPv4-mapped IPv6 address (::ffff:a.b.c.d).

const ipv4Base = 0xffff_0000_0000n;

/**
 * Parses canonical notation only. Returns null for all other text, including forms that resolvers accept ("127.1",
 * "0177.0.0.1").
 */
export function parseAddress(text: string): bigint | null {
  if (text.includes(':')) return parseIpv6(text);
  const low = parseIpv4(text);
  return low === null ? null : ipv4Base | low;
}

export type Network = { readonly first: bigint; readonly freeBits: bigint };

/** Parses `10.0.0.0/8` or `fc00::/7`. An address without a prefix length is a network of one address. */
export function parseNetwork(text: string): Network | null {
  const [, base = '', bits] = /^([^/]*)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text) ?? [];
  const first = parseAddress(base);
  if (first === null) return null;
  const mostBits = base.includes(':') ? 128 : 32;
  const givenBits = bits === undefined ? mostBits : Number(bits);
  if (givenBits > mostBits) return null;
  const freeBits = BigInt(mostBits - givenBits);
  return (first >> freeBits) << freeBits === first ? { first, freeBits } : null;
}

function isInNetwork(address: bigint, { first, freeBits }: Network): boolean {
  return address >> freeBits === first >> freeBits;
}

/** The IPv4 address in the last 32 bits. */
function embeddedIpv4(address: bigint): bigint {
  return ipv4Base | (address & 0xffff_ffffn);
}

function parseIpv4(text: string): bigint | null {
  const parts = text.split('.');
  if (parts.length !== 4) return null;
  let number = 0n;
  for (const part of parts) {
    if (!/^(?:0|[1-9]\d{0,2})$/.test(part) || Number(part) > 255) return null;
    number = (number << 8n) | BigInt(part);
  }
  return number;
}

function parseIpv6(text: string): bigint | null {
  const halves = text.split('::');
  if (halves.length > 2) return null;
  const [head, tail] = halves.map((half, index) => parseGroups(half, index === halves.length - 1));
  if (!head || tail === null) return null;
  const missing = 8 - head.length - (tail?.length ?? 0);
  if (tail === undefined ? missing !== 0 : missing < 1) return null;
  const groups = [...head, ...Array.from({ length: missing }, () => 0n), ...(tail ?? [])];
  return groups.reduce((number, group) => (number << 16n) | group, 0n);
}

/** Parses groups of up to four hexadecimal digits. The last two groups may be written as an IPv4 address. */
function parseGroups(text: string, isEnd: boolean): bigint[] | null {
  if (text === '') return [];
  const groups: bigint[] = [];
  const parts = text.split(':');
  for (const [index, part] of parts.entries()) {
    if (/^[0-9a-f]{1,4}$/i.test(part)) {
      groups.push(BigInt(`0x${part}`));
      continue;
    }
    const low = isEnd && index === parts.length - 1 ? parseIpv4(part) : null;
    if (low === null) return null;
    groups.push(low >> 16n, low & 0xffffn);
  }
  return groups;
}

// Rules for the addresses that a worker may connect to at a partner's request. Sources: IANA's special-purpose address
// registries and the metadata addresses of cloud providers.

/** All of IPv4, and global unicast IPv6. The rest of IPv6 is local, multicast, or unassigned. */
const assigned = ['0.0.0.0/0', '2000::/3'].map(network);

const special = [
  '0.0.0.0/8', // this network, unspecified
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier-grade NAT; Alibaba metadata
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // the Azure host
  '169.254.0.0/16', // link-local; metadata of most clouds
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments; Oracle metadata
  '192.0.2.0/24', // documentation
  '192.31.196.0/24', // AS112
  '192.52.193.0/24', // AMT
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '192.175.48.0/24', // AS112
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, broadcast
  '2001::/23', // protocol assignments, including Teredo, which embeds an IPv4 address
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4, which embeds an IPv4 address
  '2620:4f:8000::/48', // AS112
  '3fff::/20', // documentation
].map(network);

/**
 * A NAT64 address routes to the IPv4 address in its last 32 bits. The local-use form (64:ff9b:1::/48) is outside the
 * assigned ranges.
 */
const nat64 = network('64:ff9b::/96');

/** Whether the text is a publicly routable address. */
export function isPublicAddress(text: string): boolean {
  const address = parseAddress(text);
  return address !== null && isPublic(address);
}

/** Whether the address is public or in one of the configured networks. */
export function mayReach(text: string, networks: readonly Network[]): boolean {
  const address = parseAddress(text);
  return address !== null && (isPublic(address) || networks.some((one) => isInNetwork(address, one)));
}

function isPublic(address: bigint): boolean {
  if (isInNetwork(address, nat64)) return isPublic(embeddedIpv4(address));
  return assigned.some((one) => isInNetwork(address, one)) && !special.some((one) => isInNetwork(address, one));
}

function network(text: string): Network {
  const parsed = parseNetwork(text);
  if (!parsed) throw new Error(`${text} is not a network`);
  return parsed;
}
