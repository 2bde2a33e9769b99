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

/** A discovery document has some 5 kB, a key set with certificates 20. */
const mostBytes = 256 * 1024;

/** Follows no redirect, reads no more than an answer may have, and ends with the signal, whatever it is at. */
async function getJson(url: URL, agents: Agents, signal: AbortSignal): Promise<unknown> {
  const answer = await get(url, agents, signal);
  try {
    if (answer.statusCode !== 200) throw new Error(`${url.href} answered with ${answer.statusCode}`);
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of answer) {
      if (!Buffer.isBuffer(chunk)) throw new Error(`${url.href} gave no bytes`);
      size += chunk.length;
      if (size > mostBytes) throw new Error(`${url.href} has more than ${mostBytes} bytes`);
      chunks.push(chunk);
    }
    return parse(url, Buffer.concat(chunks).toString());
  } finally {
    answer.destroy();
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
    // The parser would repeat a part of the text.
    throw new Error(`${url.href} is no JSON`);
  }
}

export type KeySet = ReturnType<typeof createLocalJWKSet>;

export type IssuerAddress = {
  readonly issuer: string;
  /** In which it may be although they are not public. */
  readonly networks: readonly Network[];
  readonly resolve?: Resolve;
};

const discoverySchema = z.looseObject({ issuer: z.string(), jwks_uri: z.string() });
const keySetSchema = z.looseObject({ keys: z.array(z.looseObject({ kty: z.string() })) });

/**
 * Asks the issuer where its keys are, and for them: both each time, so that there is nothing else to get old. Connects to
 * public addresses only, and to those of the given networks (docs/decisions/partner-buckets.md). Both answers together have so many
 * milliseconds.
 */
export async function fetchKeySet(address: IssuerAddress, milliseconds: number): Promise<KeySet> {
  const { issuer, networks, resolve = lookup } = address;
  const agents = guardedAgents(networks, resolve);
  const signal = AbortSignal.timeout(milliseconds);
  try {
    // Discovery 1.0, 4: a slash at the end of the issuer is not doubled.
    const discovery = new URL(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
    const said = discoverySchema.safeParse(await getJson(discovery, agents, signal));
    if (!said.success) throw new Error(`${discovery.href} is no discovery document`);
    // Discovery 1.0, 4.3: else one issuer could speak for another.
    if (said.data.issuer !== issuer) throw new Error(`${discovery.href} is of another issuer`);
    if (!isKeySetAddress(said.data.jwks_uri, issuer))
      throw new Error(`${discovery.href} names no https address of keys`);
    const keys = new URL(said.data.jwks_uri);
    const keySet = keySetSchema.safeParse(await getJson(keys, agents, signal));
    if (!keySet.success) throw new Error(`${keys.href} is no key set`);
    return createLocalJWKSet(keySet.data);
  } catch (error) {
    throw new Failure('issuer_away', `The issuer ${issuer} cannot be asked for its keys.`, {
      cause: signal.aborted ? new Error(`no answer within ${milliseconds} ms`) : inItsOwnWords(error),
    });
  } finally {
    destroyAgents(agents);
  }
}

/** The guard of addresses speaks of storage, for which it was made. */
function inItsOwnWords(error: unknown): unknown {
  if (!(error instanceof Failure) || error.code !== 'storage_address_refused') return error;
  return new Error(`${error.detail} If it is the issuer all the same, name its network in INLET_OIDC_NETWORKS.`);
}

export type KeyTimes = {
  /** Keys that were asked for longer ago are not used: so long a key that is gone can still be good. */
  readonly maxAgeMs: number;
  /** From this age on, keys are used and asked for again. */
  readonly refreshMs: number;
  /** Between one question and the next, whoever sends tokens of whatever keys. */
  readonly cooldownMs: number;
  /** For an answer; less than the age, else keys could be too old when they come. */
  readonly timeoutMs: number;
};

/** At 300 s: asked for every minute while tokens come, and every 5 s at most for keys that are not known. */
export function keyTimes(maxAgeMs: number): KeyTimes {
  return {
    maxAgeMs,
    refreshMs: maxAgeMs / 5,
    cooldownMs: Math.min(5_000, maxAgeMs / 10),
    timeoutMs: Math.min(5_000, maxAgeMs / 2),
  };
}

export type Clock = { readonly now: () => number; readonly pause: (milliseconds: number) => Promise<unknown> };

/** One that nobody can set. */
const steadyClock: Clock = { now: () => performance.now(), pause };

export type Held<Keys> = {
  readonly keys: Keys;
  /** When they were asked for, not when they came: what was changed in between may not be in them. */
  readonly askedAt: number;
};

export type HeldKeys<Keys> = {
  /** Keys that may be used. */
  readonly current: () => Promise<Held<Keys>>;
  /** Keys that were asked for at this moment or later; waits until the issuer may be asked again. */
  readonly since: (moment: number) => Promise<Held<Keys>>;
  readonly now: () => number;
};

/**
 * Keeps the keys of an issuer. At most one question is under way at a time, for all who need its answer. A question that
 * failed is answered with the same failure until the next may be asked, so that nobody waits for an issuer that is away.
 */
export function holdKeys<Keys>(
  fetchKeys: (timeoutMs: number) => Promise<Keys>,
  times: KeyTimes,
  log: Log,
  clock: Clock = steadyClock,
): HeldKeys<Keys> {
  const { now } = clock;
  let held: Held<Keys> | null = null;
  let asking: Promise<Held<Keys>> | null = null;
  let failed: { readonly at: number; readonly error: unknown } | null = null;
  let lastAskedAt = -Infinity;

  const askAfterCooldown = async (): Promise<Held<Keys>> => {
    const rest = lastAskedAt + times.cooldownMs - now();
    if (rest > 0) await clock.pause(rest);
    const askedAt = now();
    lastAskedAt = askedAt;
    try {
      held = { keys: await fetchKeys(times.timeoutMs), askedAt };
      failed = null;
      return held;
    } catch (error) {
      failed = { at: now(), error };
      log.warn({ err: error }, 'the issuer of user tokens could not be asked for its keys');
      throw error;
    }
  };
  const ask = async (): Promise<Held<Keys>> => {
    if (!asking && failed && now() < failed.at + times.cooldownMs) throw failed.error;
    asking ??= askAfterCooldown().finally(() => {
      asking = null;
    });
    return asking;
  };
  const since = async (moment: number): Promise<Held<Keys>> => {
    let newest = held;
    // What is under way may have been asked before; the one after it was not.
    while (!newest || newest.askedAt < moment) newest = await ask();
    return newest;
  };
  return {
    now,
    since,
    current: async () => {
      const age = held ? now() - held.askedAt : Infinity;
      if (!held || age >= times.maxAgeMs) return ask();
      // It is logged, and the next call tries again.
      if (age >= times.refreshMs) ask().catch(() => undefined);
      return held;
    },
  };
}
