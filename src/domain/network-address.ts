// Addresses are numbers of 128 bits. One of IPv4 is the number of the IPv6 address that stands for it (::ffff:a.b.c.d),
// so that both spellings are the same number.

const ipv4Base = 0xffff_0000_0000n;

/** The number of an address; null for what is none to the letter, also where a resolver would guess ("127.1", "0177.0.0.1"). */
export function parseAddress(text: string): bigint | null {
  if (text.includes(':')) return parseIpv6(text);
  const low = parseIpv4(text);
  return low === null ? null : ipv4Base | low;
}

export type Network = { readonly first: bigint; readonly freeBits: bigint };

/** Reads `10.0.0.0/8` or `fc00::/7`; an address alone is a network of one. */
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

/** Groups of up to four hexadecimal digits; the last two may be written as IPv4. */
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

// Which addresses a request of a partner may make a worker connect to. From IANA's registries of special-purpose
// addresses, and what clouds answer metadata on.

/** All of IPv4, and what is given out of IPv6; everything else of IPv6 is local, multicast, or nobody's yet. */
const givenOut = ['0.0.0.0/0', '2000::/3'].map(network);

const special = [
  '0.0.0.0/8', // this network, unspecified
  '10.0.0.0/8', // private
  '100.64.0.0/10', // behind a carrier's NAT; metadata at Alibaba
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // the host, in Azure
  '169.254.0.0/16', // link-local; metadata nearly everywhere
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments; metadata at Oracle
  '192.0.2.0/24', // documentation
  '192.31.196.0/24', // AS112
  '192.52.193.0/24', // AMT
  '192.88.99.0/24', // relays of 6to4
  '192.168.0.0/16', // private
  '192.175.48.0/24', // AS112
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, broadcast
  '2001::/23', // protocol assignments, among them Teredo, which holds an IPv4 address
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4, which holds an IPv4 address
  '2620:4f:8000::/48', // AS112
  '3fff::/20', // documentation
].map(network);

/** NAT64 leads to the IPv4 address in its last bits. Its form for local use (64:ff9b:1::/48) is not given out. */
const nat64 = network('64:ff9b::/96');

/** True when everybody can reach the address; false also for what is no address. */
export function isPublicAddress(text: string): boolean {
  const address = parseAddress(text);
  return address !== null && isPublic(address);
}

/** Public, or in a network that the configuration names. */
export function mayReach(text: string, networks: readonly Network[]): boolean {
  const address = parseAddress(text);
  return address !== null && (isPublic(address) || networks.some((one) => isInNetwork(address, one)));
}

function isPublic(address: bigint): boolean {
  if (isInNetwork(address, nat64)) return isPublic(embeddedIpv4(address));
  return givenOut.some((one) => isInNetwork(address, one)) && !special.some((one) => isInNetwork(address, one));
}

function network(text: string): Network {
  const parsed = parseNetwork(text);
  if (!parsed) throw new Error(`${text} is no network`);
  return parsed;
}
