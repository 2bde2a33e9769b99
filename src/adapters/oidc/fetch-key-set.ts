import { lookup } from 'node:dns';
import { createLocalJWKSet } from 'jose';
import { z } from 'zod';
import { Failure } from '../../domain/failure.ts';
import type { Network } from '../../domain/ip-address.ts';
import { isKeySetAddress } from '../../domain/issuer-address.ts';
import { destroyAgents, guardedAgents, type Resolve } from '../guarded-agents.ts';
import { getJson } from './get-json.ts';

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
 * public addresses only, and to those of the given networks (decision 0033). Both answers together have so many
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
