import { type LookupAddress, type LookupOptions, lookup } from 'node:dns';
import { Agent } from 'node:http';
import { Agent as SecureAgent } from 'node:https';
import { type LookupFunction, Socket, isIP } from 'node:net';
import { Failure } from '../domain/failure.ts';
import { type Network, mayReach } from '../domain/network-address.ts';

/** A client's connection pools for HTTP and HTTPS. */
export type Agents = { readonly http: Agent; readonly https: SecureAgent };

/** Resolves a host name to all its addresses. */
export type Resolve = (
  hostname: string,
  options: LookupOptions & { readonly all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

export const agentLimits = { keepAlive: true, maxSockets: 64 };

/**
 * Creates agents that connect only to public addresses and to the given networks. For each connection, the name is
 * resolved once, all addresses are checked, and one of them is used. A second DNS response therefore cannot bypass the
 * check (DNS rebinding). Pass `dnsResolve()` if partners choose the names. Names that the operator configures can be in
 * `/etc/hosts`.
 */
export function guardedAgents(networks: readonly Network[], resolve: Resolve = lookup): Agents {
  const guardedLookup: LookupFunction = (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, []);
      const [first] = addresses;
      if (!first || !addresses.every(({ address }) => mayReach(address, networks))) {
        return callback(refusal(hostname), []);
      }
      if (options.all === true) return callback(null, addresses);
      return callback(null, first.address, first.family);
    });
  };
  const options = { ...agentLimits, lookup: guardedLookup };
  return {
    http: guardLiteralAddresses(new Agent(options), networks),
    https: guardLiteralAddresses(new SecureAgent(options), networks),
  };
}

export function destroyAgents({ http, https }: Agents): void {
  http.destroy();
  https.destroy();
}

/** Checks hosts that are IP addresses, because Node does not call the lookup function for them. */
function guardLiteralAddresses<T extends Agent>(agent: T, networks: readonly Network[]): T {
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (options, callback) => {
    const host = options.host ?? '';
    if (isIP(host) === 0 || mayReach(host, networks)) return connect(options, callback);
    callback?.(refusal(host), new Socket());
    return null;
  };
  return agent;
}

function refusal(host: string): Failure {
  return new Failure('storage_address_refused', `"${host}" resolves to an address that is not public.`);
}
