import type { FastifyReply, FastifyRequest } from 'fastify';
import { createHash } from 'node:crypto';
import { InvalidCredentials, SuspendedPartner } from '../../domain/caller.ts';
import { sessionEnded } from '../../domain/console-session.ts';
import { Failure } from '../../domain/failure.ts';
import { parseKey } from '../../domain/key-format.ts';
import { type RequestLimits, requestWindowSeconds } from '../../domain/limits.ts';
import { parseAddress } from '../../domain/network-address.ts';

/**
 * Maximum number of valid keys, and of ended sessions, kept in memory. An evicted one is throttled like an unrecognized
 * key.
 */
const maxKnownKeys = 10_000;
/**
 * While an address is throttled, one key with a correct checksum is looked up per interval, so that a new valid key is
 * accepted soon.
 */
const throttledLookupEveryMs = 1_000;
/** Maximum time in the queue. Equals the timeout for a database connection. */
const maxQueueMs = 5_000;

/** A key, or the token of a session or a link. */
export type Credential = {
  readonly text: string;
  /** Whether Inlet could have issued it. */
  readonly isWellFormed: boolean;
  /** Whether it never becomes valid again once it has ended, like the token of a session. */
  readonly endsForGood?: boolean;
};

/** Looks up a credential, or rejects the request. */
export type Guard = <T>(
  request: Pick<FastifyRequest, 'ip'>,
  reply: FastifyReply,
  credential: Credential,
  lookUp: () => Promise<T>,
) => Promise<T>;

/**
 * Throttles an address that has sent too many invalid keys. While it is throttled, at most one of its keys per second
 * is looked up. Keys that were valid earlier in this process are exempt. Otherwise, an attacker could lock out all
 * users behind the same address. Unrecognized keys are looked up one at a time. This keeps the count exact under
 * concurrency and limits the lookups to one database connection.
 *
 * The token of a session that was valid in this process and has ended is not a guess. An open page can keep sending it,
 * so it is rejected without a lookup and without being counted against its address.
 */
export function guardAgainstWrongKeys({ wrongKeysPerAddress }: Pick<RequestLimits, 'wrongKeysPerAddress'>): Guard {
  const counts = countWrongKeys(wrongKeysPerAddress, requestWindowSeconds);
  const known = new Set<string>();
  const ended = new Set<string>();
  const inTurn = serialQueue();

  function rejectIfThrottled(ip: string, isWellFormed: boolean, reply: FastifyReply): void {
    const seconds = counts.secondsToWait(ip);
    if (seconds === null) return;
    if (isWellFormed && counts.takeLookup(ip)) return;
    reply.header('ratelimit-policy', `"wrong-keys";q=${wrongKeysPerAddress};w=${requestWindowSeconds}`);
    reply.header('ratelimit', `"wrong-keys";r=0;t=${seconds}`);
    reply.header('retry-after', String(seconds));
    throw new Failure('too_many_requests', 'Too many requests with an invalid key from this address.');
  }

  return async ({ ip }, reply, { text, isWellFormed, endsForGood = false }, lookUp) => {
    const key = hashOf(text);
    if (ended.has(key)) throw new InvalidCredentials(sessionEnded);
    const verify = async () => {
      try {
        const found = await lookUp();
        remember(known, key);
        return found;
      } catch (error) {
        // The key of a suspended partner is not a guess.
        if (error instanceof InvalidCredentials && !(error instanceof SuspendedPartner)) {
          const wasValid = known.delete(key);
          if (endsForGood && wasValid) remember(ended, key);
          else if (!ended.has(key)) counts.note(ip);
        }
        throw error;
      }
    };
    if (known.has(key)) return verify();
    return inTurn(async () => {
      if (!known.has(key)) rejectIfThrottled(ip, isWellFormed, reply);
      return verify();
    });
  };
}

function remember(keys: Set<string>, key: string): void {
  keys.add(key);
  const [oldest] = keys;
  if (keys.size > maxKnownKeys && oldest !== undefined) keys.delete(oldest);
}

function serialQueue() {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(run: () => Promise<T>): Promise<T> => {
    const since = performance.now();
    const turn = last.then(() => {
      if (performance.now() - since < maxQueueMs) return run();
      throw new Failure('unavailable', 'Too many API keys are waiting to be verified.');
    });
    last = turn.catch(() => undefined);
    return turn;
  };
}

/** Extracts the key, because headers with the same key can differ in case and spacing. */
export function keyIn(authorization: string): Credential {
  const text = authorization.slice(authorization.lastIndexOf(' ') + 1);
  return { text, isWellFormed: parseKey(text)?.kind === 'key' };
}

/** Hashes the key, so that no key stays in memory. */
function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('base64');
}

/**
 * Maximum number of addresses to track, which limits memory use. Throttling cannot stop an attacker who has more
 * addresses.
 */
const maxAddresses = 10_000;

export type WrongKeyCounts = {
  readonly note: (address: string) => void;
  /** Returns the number of seconds until the address is no longer throttled, or null if it is not throttled. */
  readonly secondsToWait: (address: string) => number | null;
  /** Returns true if a key from a throttled address can be looked up now. */
  readonly takeLookup: (address: string) => boolean;
};

/**
 * Counts requests with an invalid key per address and window, in this process only. Evicts the address that has been
 * idle longest.
 */
export function countWrongKeys(limit: number, windowSeconds: number, now = () => performance.now()): WrongKeyCounts {
  const counts = new Map<string, { wrongKeys: number; nextLookupAt: number }>();
  let endsAt = 0;

  function beginWindow(): void {
    if (now() < endsAt) return;
    endsAt = now() + windowSeconds * 1000;
    counts.clear();
  }

  return {
    note: (address) => {
      beginWindow();
      const network = networkOf(address);
      const { wrongKeys, nextLookupAt } = counts.get(network) ?? { wrongKeys: 0, nextLookupAt: 0 };
      counts.delete(network);
      counts.set(network, { wrongKeys: wrongKeys + 1, nextLookupAt });
      const [oldest] = counts.keys();
      if (counts.size > maxAddresses && oldest !== undefined) counts.delete(oldest);
    },
    secondsToWait: (address) => {
      beginWindow();
      if ((counts.get(networkOf(address))?.wrongKeys ?? 0) < limit) return null;
      return Math.max(1, Math.ceil((endsAt - now()) / 1000));
    },
    takeLookup: (address) => {
      const count = counts.get(networkOf(address));
      if (!count || now() < count.nextLookupAt) return false;
      count.nextLookupAt = now() + throttledLookupEveryMs;
      return true;
    },
  };
}

/**
 * An IPv6 host usually has a whole /64 network, so requests are counted per network. IPv4 addresses are counted
 * individually.
 */
function networkOf(text: string): string {
  const address = parseAddress(text);
  if (address === null) return 'unknown';
  const high = address >> 64n;
  return high === 0n ? String(address) : `${high}/64`;
}
