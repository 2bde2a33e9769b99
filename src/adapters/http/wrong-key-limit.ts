import type { FastifyReply, FastifyRequest } from 'fastify';
import { createHash } from 'node:crypto';
import { RefusedKey } from '../../domain/caller.ts';
import { Failure } from '../../domain/failure.ts';
import { type RequestLimits, requestWindowSeconds } from '../../domain/limits.ts';
import { parseAddress } from '../../domain/network-address.ts';

/** So many good keys are remembered; one that was forgotten may have to wait like a stranger's. */
const mostKnown = 10_000;
/** As long as a connection to the database is waited for. */
const longestTurnMs = 5_000;

/** Looks a key up, or refuses to. */
type Guard = <T>(request: FastifyRequest, reply: FastifyReply, lookUp: () => Promise<T>) => Promise<T>;

/**
 * Whoever sent too many wrong keys from an address waits, and nobody is asked about its keys meanwhile. A key that this
 * process has seen to be good is let through all the same, else a stranger could lock out whoever shares its address.
 * The others are looked up one after the other: so the count is right however many come at once, and however many addresses
 * they come from, they take one connection and leave the others to those who are known.
 */
export function guardAgainstWrongKeys({ wrongKeysPerAddress }: Pick<RequestLimits, 'wrongKeysPerAddress'>): Guard {
  const counts = countWrongKeys(wrongKeysPerAddress, requestWindowSeconds);
  const known = new Set<string>();
  const inTurn = oneAfterTheOther();

  function refuseIfTooMany(ip: string, reply: FastifyReply): void {
    const seconds = counts.secondsToWait(ip);
    if (seconds === null) return;
    reply.header('ratelimit-policy', `"wrong-keys";q=${wrongKeysPerAddress};w=${requestWindowSeconds}`);
    reply.header('ratelimit', `"wrong-keys";r=0;t=${seconds}`);
    reply.header('retry-after', String(seconds));
    throw new Failure('too_many_requests', 'Too many requests with a wrong key came from this address.');
  }

  function remember(key: string): void {
    known.add(key);
    const [oldest] = known;
    if (known.size > mostKnown && oldest !== undefined) known.delete(oldest);
  }

  return async ({ headers: { authorization }, ip }, reply, lookUp) => {
    if (authorization === undefined) return lookUp();
    const key = hashOfKeyIn(authorization);
    const tryIt = async () => {
      try {
        const found = await lookUp();
        remember(key);
        return found;
      } catch (error) {
        if (error instanceof RefusedKey) {
          known.delete(key);
          counts.note(ip);
        }
        throw error;
      }
    };
    if (known.has(key)) return tryIt();
    return inTurn(async () => {
      if (!known.has(key)) refuseIfTooMany(ip, reply);
      return tryIt();
    });
  };
}

function oneAfterTheOther() {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(run: () => Promise<T>): Promise<T> => {
    const since = performance.now();
    const turn = last.then(() => {
      if (performance.now() - since < longestTurnMs) return run();
      throw new Failure('unavailable', 'Too many keys wait to be looked up.');
    });
    last = turn.catch(() => undefined);
    return turn;
  };
}

/** The key alone, so that one key counts once however its header is spelled; as a hash, so that no key stays in memory. */
function hashOfKeyIn(authorization: string): string {
  return createHash('sha256')
    .update(authorization.slice(authorization.lastIndexOf(' ') + 1))
    .digest('base64');
}

/** So many addresses are counted at a time; whoever has more of them than this is not stopped by counting addresses. */
const mostAddresses = 10_000;

export type WrongKeyCounts = {
  readonly note: (address: string) => void;
  /** Seconds until the address may try again; null when it may now. */
  readonly secondsToWait: (address: string) => number | null;
};

/** Counts per address in windows, in this process alone. When there are too many, the one goes that was quiet for longest. */
export function countWrongKeys(most: number, windowSeconds: number, now = () => performance.now()): WrongKeyCounts {
  const counts = new Map<string, number>();
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
      const count = (counts.get(network) ?? 0) + 1;
      counts.delete(network);
      counts.set(network, count);
      const [oldest] = counts.keys();
      if (counts.size > mostAddresses && oldest !== undefined) counts.delete(oldest);
    },
    secondsToWait: (address) => {
      beginWindow();
      if ((counts.get(networkOf(address)) ?? 0) < most) return null;
      return Math.max(1, Math.ceil((endsAt - now()) / 1000));
    },
  };
}

/** Whoever has one address of IPv6 has 2^64 of them: the first half counts. One of IPv4 is told from them by its beginning. */
function networkOf(text: string): string {
  const address = parseAddress(text);
  if (address === null) return 'unknown';
  const high = address >> 64n;
  return high === 0n ? String(address) : `${high}/64`;
}
