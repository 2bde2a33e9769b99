import { type LookupAddress, type LookupOptions, lookup } from 'node:dns';
import { Agent } from 'node:http';
import { Agent as SecureAgent } from 'node:https';
import { type LookupFunction, Socket, isIP } from 'node:net';
import { Failure } from '../domain/failure.ts';
import { type Network, mayReach } from '../domain/network-address.ts';

/** Whoever makes the connections of a client: without and with TLS. */
export type Agents = { readonly http: Agent; readonly https: SecureAgent };

/** All addresses of a name. */
export type Resolve = (
  hostname: string,
  options: LookupOptions & { readonly all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

export const agentLimits = { keepAlive: true, maxSockets: 64 };

/**
 * Agents that connect to public addresses only, and to those of the given networks. A name is resolved once for each
 * connection, all of its addresses are checked, and the socket goes to one that was: there is no second answer that
 * could be another.
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
    http: withoutPlainAddresses(new Agent(options), networks),
    https: withoutPlainAddresses(new SecureAgent(options), networks),
  };
}

export function destroyAgents({ http, https }: Agents): void {
  http.destroy();
  https.destroy();
}

/** Nothing is looked up for a host that is an address already. */
function withoutPlainAddresses<T extends Agent>(agent: T, networks: readonly Network[]): T {
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
  return new Failure('storage_address_refused', `"${host}" leads to an address that is not public.`);
}
