import { AssumeRoleCommand, STSClient, STSServiceException } from '@aws-sdk/client-sts';
import { randomUUID } from 'node:crypto';
import { Failure } from '../../domain/failure.ts';
import type { Network } from '../../domain/network-address.ts';
import type { BucketKeys, BucketRole } from '../../domain/partner-bucket.ts';
import { Secret } from '../../domain/secret.ts';
import { type Resolve, destroyAgents, guardedAgents } from '../guarded-agents.ts';
import { nothingFromOutside } from './connect.ts';

export type RoleSettings = {
  readonly accessKeyId: string;
  readonly secretAccessKey: Secret;
  /** From our own configuration; null for AWS, where the region alone makes the address. */
  readonly endpoint: string | null;
  readonly networks: readonly Network[];
  readonly resolve?: Resolve;
};

/** A role, and the partner that named it. */
export type PartnerRole = BucketRole & { readonly partnerId: number; readonly externalId: string };
export type SessionKeys = BucketKeys & { readonly sessionToken: Secret; readonly expiresAt: Date };

/** An hour is what every role allows. */
const sessionSeconds = 3_600;

/** Assumes the role with the ExternalId of the partner; refuses one that would also be given with another. */
export async function assumeRole(settings: RoleSettings, role: PartnerRole): Promise<SessionKeys> {
  const agents = guardedAgents(settings.networks, settings.resolve);
  const client = new STSClient({
    ...nothingFromOutside(settings.endpoint ?? `https://sts.${role.region}.amazonaws.com`),
    region: role.region,
    credentials: { accessKeyId: settings.accessKeyId, secretAccessKey: settings.secretAccessKey.reveal() },
    maxAttempts: 3,
    requestHandler: {
      connectionTimeout: 10_000,
      requestTimeout: 30_000,
      throwOnRequestTimeout: true,
      httpAgent: agents.http,
      httpsAgent: agents.https,
    },
  });
  try {
    const keys = await askForPartner(client, role);
    if (await isGiven(client, role, randomUUID())) {
      throw new Failure('role_unprotected', 'The role can be assumed with any ExternalId.');
    }
    return keys;
  } finally {
    client.destroy();
    destroyAgents(agents);
  }
}

async function askForPartner(client: STSClient, role: PartnerRole): Promise<SessionKeys> {
  try {
    return await ask(client, role, role.externalId);
  } catch (error) {
    throw isRefusal(error) ? new Failure('role_refused', 'The role was not given.', { cause: error }) : error;
  }
}

/** Only a denial shows that it is not given. Whatever else comes (that we ask too often, say) is tried again. */
async function isGiven(client: STSClient, role: PartnerRole, externalId: string): Promise<boolean> {
  try {
    await ask(client, role, externalId);
    return true;
  } catch (error) {
    if (isDenial(error)) return false;
    throw error;
  }
}

async function ask(client: STSClient, role: PartnerRole, externalId: string): Promise<SessionKeys> {
  const command = new AssumeRoleCommand({
    RoleArn: role.roleArn,
    // The partner sees it in its own audit log.
    RoleSessionName: `inlet-partner-${role.partnerId}`,
    ExternalId: externalId,
    DurationSeconds: sessionSeconds,
  });
  const { AccessKeyId, SecretAccessKey, SessionToken, Expiration } = (await client.send(command)).Credentials ?? {};
  if (AccessKeyId === undefined || SecretAccessKey === undefined || SessionToken === undefined || !Expiration) {
    throw new Error('the answer holds no keys');
  }
  return {
    accessKeyId: AccessKeyId,
    secretAccessKey: new Secret(SecretAccessKey),
    sessionToken: new Secret(SessionToken),
    region: role.region,
    expiresAt: Expiration,
  };
}

/** What is wrong with our own identity or our own clock; STS says the rest about the role. */
const ours = new Set([
  'InvalidClientTokenId',
  'SignatureDoesNotMatch',
  'IncompleteSignature',
  'MissingAuthenticationToken',
  'ExpiredTokenException',
  'RequestExpired',
  'RegionDisabledException',
  'Throttling',
  'ThrottlingException',
  'TooManyRequestsException',
]);

function isRefusal(error: unknown): boolean {
  if (!(error instanceof STSServiceException) || ours.has(error.name)) return false;
  return [400, 403, 404].includes(error.$metadata.httpStatusCode ?? 0);
}

function isDenial(error: unknown): boolean {
  if (!(error instanceof STSServiceException) || error.$metadata.httpStatusCode !== 403) return false;
  return error.name === 'AccessDenied' || error.name === 'AccessDeniedException';
}

/** A file that is begun with the keys is to be read to its end with them. */
const marginMs = 15 * 60_000;
const mostKept = 1_000;

/** Keys of assumed roles, in memory only, until shortly before they end. Of those who ask at once only one assumes. */
export function roleKeys(
  assume: (role: PartnerRole) => Promise<SessionKeys>,
  now: () => number = Date.now,
): (role: PartnerRole) => Promise<SessionKeys> {
  const kept = new Map<string, { readonly keys: Promise<SessionKeys>; goodUntil: number }>();
  return async (role) => {
    const name = JSON.stringify([role.partnerId, role.externalId, role.region, role.roleArn]);
    const known = kept.get(name);
    if (known && known.goodUntil > now()) return known.keys;
    const asked = { keys: assume(role), goodUntil: Infinity };
    kept.delete(name);
    kept.set(name, asked);
    if (kept.size > mostKept) kept.delete(kept.keys().next().value ?? '');
    try {
      const keys = await asked.keys;
      asked.goodUntil = keys.expiresAt.getTime() - marginMs;
      return keys;
    } catch (error) {
      if (kept.get(name) === asked) kept.delete(name);
      throw error;
    }
  };
}
