import { embeddedIpv4, isInNetwork, parseAddress, parseNetwork, type Network } from './ip-address.ts';

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
