import { type LookupAddress, promises } from 'node:dns';
import type { Resolve } from './guarded-agents.ts';

/** A query is sent twice to each name server. */
const queryMs = 1_500;
const tries = 2;

/**
 * Resolves names that a partner has chosen. `dns.lookup` would occupy one of libuv's four threads until the name servers
 * of the partner respond, and the threads also decompress files. This function waits on sockets. It queries
 * only name servers. It ignores `/etc/hosts` and search domains, because they can resolve to internal servers.
 */
export function dnsResolve(servers?: readonly string[]): Resolve {
  const resolver = new promises.Resolver({ timeout: queryMs, tries, maxTimeout: queryMs });
  if (servers) resolver.setServers(servers);
  return (hostname, _options, callback) => {
    const answer = async (): Promise<void> => {
      let addresses: LookupAddress[];
      try {
        addresses = await resolveAll(resolver, hostname);
      } catch (error) {
        callback(error instanceof Error ? error : new Error(String(error)), []);
        return;
      }
      callback(null, addresses);
    };
    void answer();
  };
}

async function resolveAll(resolver: promises.Resolver, hostname: string): Promise<LookupAddress[]> {
  // Not sent to name servers (RFC 6761). The address is refused unless its network is allowed.
  if (/^(?:.+\.)?localhost\.?$/i.test(hostname)) return [{ address: '127.0.0.1', family: 4 }];
  const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  const addresses = [
    ...(ipv4.status === 'fulfilled' ? ipv4.value : []).map((address) => ({ address, family: 4 })),
    ...(ipv6.status === 'fulfilled' ? ipv6.value : []).map((address) => ({ address, family: 6 })),
  ];
  if (addresses.length === 0 && ipv4.status === 'rejected') throw ipv4.reason;
  return addresses;
}
