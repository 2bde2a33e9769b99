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

export function isInNetwork(address: bigint, { first, freeBits }: Network): boolean {
  return address >> freeBits === first >> freeBits;
}

/** The IPv4 address in the last 32 bits. */
export function embeddedIpv4(address: bigint): bigint {
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
