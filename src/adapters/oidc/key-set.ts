import { createLocalJWKSet } from 'jose';
import { lookup } from 'node:dns';
import { type IncomingMessage, request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { Failure } from '../../domain/failure.ts';
import { isKeySetAddress } from '../../domain/issued-token.ts';
import type { Network } from '../../domain/network-address.ts';
import type { Log } from '../../ports/observability.ts';
import { type Agents, type Resolve, destroyAgents, guardedAgents } from '../guarded-agents.ts';

/** A discovery document is about 5 kB, and a key set with certificates is about 20 kB. */
const maxBytes = 256 * 1024;

/** Follows no redirects, limits the response size, and stops as soon as the signal is aborted. */
async function getJson(url: URL, agents: Agents, signal: AbortSignal): Promise<unknown> {
  const response = await get(url, agents, signal);
  try {
    if (response.statusCode !== 200) throw new Error(`${url.href} returned HTTP ${response.statusCode}`);
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of response) {
      if (!Buffer.isBuffer(chunk)) throw new Error(`${url.href} returned no bytes`);
      size += chunk.length;
      if (size > maxBytes) throw new Error(`${url.href} has more than ${maxBytes} bytes`);
      chunks.push(chunk);
    }
    return parse(url, Buffer.concat(chunks).toString());
  } finally {
    response.destroy();
  }
}

function get(url: URL, { http, https }: Agents, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { accept: 'application/json' };
    const sent =
      url.protocol === 'https:'
        ? requestSecure(url, { agent: https, signal, headers }, resolve)
        : requestPlain(url, { agent: http, signal, headers }, resolve);
    sent.on('error', reject).end();
  });
}

function parse(url: URL, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message would quote the response text.
    throw new Error(`${url.href} is not JSON`);
  }
}

export type KeySet = ReturnType<typeof createLocalJWKSet>;

export type IssuerAddress = {
  readonly issuer: string;
  /** Private networks that may host an issuer. */
  readonly networks: readonly Network[];
  readonly resolve?: Resolve;
};

const discoverySchema = z.looseObject({ issuer: z.string(), jwks_uri: z.string() });
const keySetSchema = z.looseObject({ keys: z.array(z.looseObject({ kty: z.string() })) });

/**
 * Fetches the discovery document and then the key set. Caches neither, so that neither becomes stale. Connects only to
 * public addresses and the given networks. The timeout covers both requests.
 */
export async function fetchKeySet(address: IssuerAddress, timeoutMs: number): Promise<KeySet> {
  const { issuer, networks, resolve = lookup } = address;
  const agents = guardedAgents(networks, resolve);
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    // Discovery 1.0, section 4, requires removing a trailing slash from the issuer.
    const discovery = new URL(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
    const document = discoverySchema.safeParse(await getJson(discovery, agents, signal));
    if (!document.success) throw new Error(`${discovery.href} is not a discovery document`);
    // Required by Discovery 1.0, section 4.3. Otherwise, one issuer could impersonate another.
    if (document.data.issuer !== issuer) throw new Error(`${discovery.href} names another issuer`);
    if (!isKeySetAddress(document.data.jwks_uri, issuer)) throw new Error(`${discovery.href} has no HTTPS jwks_uri`);
    const keys = new URL(document.data.jwks_uri);
    const keySet = keySetSchema.safeParse(await getJson(keys, agents, signal));
    if (!keySet.success) throw new Error(`${keys.href} is not a key set`);
    return createLocalJWKSet(keySet.data);
  } catch (error) {
    throw new Failure('issuer_away', `The issuer ${issuer} did not return its keys.`, {
      cause: signal.aborted ? new Error(`no response within ${timeoutMs} ms`) : withoutStorageFailure(error),
    });
  } finally {
    destroyAgents(agents);
  }
}

/** Replaces the address guard's failure, because its code refers to storage. */
function withoutStorageFailure(error: unknown): unknown {
  if (!(error instanceof Failure) || error.code !== 'storage_address_refused') return error;
  return new Error(`${error.detail} If the issuer is in a private network, add it to INLET_OIDC_NETWORKS.`);
}

export type KeyTimes = {
  /** Maximum age of cached keys. A revoked key is accepted for at most this long. */
  readonly maxAgeMs: number;
  /** Age at which keys are refreshed in the background. */
  readonly refreshMs: number;
  /** The minimum time between two requests to the issuer. */
  readonly cooldownMs: number;
  /** Request timeout. It must be less than `maxAgeMs`. Otherwise, keys could expire before they arrive. */
  readonly timeoutMs: number;
};

/**
 * With a maximum age of 300 s, keys are refreshed every minute while tokens arrive. Unknown keys cause a refresh at
 * most every 5 s.
 */
export function keyTimes(maxAgeMs: number): KeyTimes {
  return {
    maxAgeMs,
    refreshMs: maxAgeMs / 5,
    cooldownMs: Math.min(5_000, maxAgeMs / 10),
    timeoutMs: Math.min(5_000, maxAgeMs / 2),
  };
}

export type Clock = { readonly now: () => number; readonly pause: (milliseconds: number) => Promise<unknown> };

/** Unaffected by changes to the system time. */
const monotonicClock: Clock = { now: () => performance.now(), pause };

export type CachedKeys<Keys> = {
  readonly keys: Keys;
  /** Start time of the request. The keys may not reflect changes made after this time. */
  readonly requestedAt: number;
};

export type KeyCache<Keys> = {
  /** Returns keys that are no older than `maxAgeMs`. */
  readonly current: () => Promise<CachedKeys<Keys>>;
  /** Returns keys that were requested at this time or later. Waits for the cooldown if necessary. */
  readonly since: (moment: number) => Promise<CachedKeys<Keys>>;
  readonly now: () => number;
};

/**
 * Caches an issuer's keys. Concurrent callers share one request. After a failed request, callers get the same error until
 * the cooldown ends, so that no request waits for an issuer that is down.
 */
export function cacheKeys<Keys>(
  fetchKeys: (timeoutMs: number) => Promise<Keys>,
  times: KeyTimes,
  log: Log,
  clock: Clock = monotonicClock,
): KeyCache<Keys> {
  const { now } = clock;
  let cached: CachedKeys<Keys> | null = null;
  let pending: Promise<CachedKeys<Keys>> | null = null;
  let failed: { readonly at: number; readonly error: unknown } | null = null;
  let lastRequestAt = -Infinity;

  const requestAfterCooldown = async (): Promise<CachedKeys<Keys>> => {
    const rest = lastRequestAt + times.cooldownMs - now();
    if (rest > 0) await clock.pause(rest);
    const requestedAt = now();
    lastRequestAt = requestedAt;
    try {
      cached = { keys: await fetchKeys(times.timeoutMs), requestedAt };
      failed = null;
      return cached;
    } catch (error) {
      failed = { at: now(), error };
      log.warn({ err: error }, 'cannot fetch the keys of the user token issuer');
      throw error;
    }
  };
  const request = async (): Promise<CachedKeys<Keys>> => {
    if (!pending && failed && now() < failed.at + times.cooldownMs) throw failed.error;
    pending ??= requestAfterCooldown().finally(() => {
      pending = null;
    });
    return pending;
  };
  const since = async (moment: number): Promise<CachedKeys<Keys>> => {
    let newest = cached;
    // A pending request may have started before `moment`, so a second request may be necessary.
    while (!newest || newest.requestedAt < moment) newest = await request();
    return newest;
  };
  return {
    now,
    since,
    current: async () => {
      const age = cached ? now() - cached.requestedAt : Infinity;
      if (!cached || age >= times.maxAgeMs) return request();
      // A failure is logged, and the next call retries.
      if (age >= times.refreshMs) request().catch(() => undefined);
      return cached;
    },
  };
}
