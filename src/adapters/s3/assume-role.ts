import { AssumeRoleCommand, STSClient, STSServiceException } from '@aws-sdk/client-sts';
import { randomUUID } from 'node:crypto';
import { Failure } from '../../domain/failure.ts';
import type { Network } from '../../domain/network-address.ts';
import type { BucketKeys, BucketRole } from '../../domain/partner-bucket.ts';
import { Secret } from '../../domain/secret.ts';
import { blaming } from '../failed-dependency.ts';
import { type Resolve, destroyAgents, guardedAgents } from '../guarded-agents.ts';
import { fixedEndpoint } from './connect.ts';

/** Returns the current credentials of the identity that assumes roles. */
export type AwsIdentity = () => Promise<{
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}>;

export type RoleSettings = {
  readonly identity: AwsIdentity;
  /** Endpoint from the configuration, never from a request. Null for AWS, where the region determines the address. */
  readonly endpoint: string | null;
  readonly networks: readonly Network[];
  readonly resolve?: Resolve;
};

/** A role and the partner that configured it. */
export type PartnerRole = BucketRole & { readonly partnerId: number; readonly externalId: string };
export type SessionKeys = BucketKeys & { readonly sessionToken: Secret; readonly expiresAt: Date };

/** Every IAM role allows sessions of one hour. */
const sessionSeconds = 3_600;

/**
 * Assumes the role with the partner's external ID. Rejects a role that can also be assumed with another external ID.
 */
export async function assumeRole(settings: RoleSettings, role: PartnerRole): Promise<SessionKeys> {
  // A failure to find Inlet's own credentials must not be reported as a failure of the role.
  const { accessKeyId, secretAccessKey, sessionToken } = await settings.identity();
  const agents = guardedAgents(settings.networks, settings.resolve);
  const client = new STSClient({
    ...fixedEndpoint(settings.endpoint ?? `https://sts.${role.region}.amazonaws.com`),
    region: role.region,
    credentials: { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) },
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
    const keys = await assumeForPartner(client, role);
    if (await canAssume(client, role, randomUUID())) {
      throw new Failure('role_unprotected', 'The role can be assumed with any ExternalId.');
    }
    return keys;
  } finally {
    client.destroy();
    destroyAgents(agents);
  }
}

async function assumeForPartner(client: STSClient, role: PartnerRole): Promise<SessionKeys> {
  try {
    return await requestKeys(client, role, role.externalId);
  } catch (error) {
    throw isRoleError(error) ? new Failure('role_refused', 'The role could not be assumed.', { cause: error }) : error;
  }
}

/** Returns false only if access is explicitly denied. Other errors, such as throttling, are thrown and then retried. */
async function canAssume(client: STSClient, role: PartnerRole, externalId: string): Promise<boolean> {
  try {
    await requestKeys(client, role, externalId);
    return true;
  } catch (error) {
    if (isDenial(error)) return false;
    throw error;
  }
}

async function requestKeys(client: STSClient, role: PartnerRole, externalId: string): Promise<SessionKeys> {
  const command = new AssumeRoleCommand({
    RoleArn: role.roleArn,
    // Partners see this name in the audit log of their AWS account.
    RoleSessionName: `inlet-partner-${role.partnerId}`,
    ExternalId: externalId,
    DurationSeconds: sessionSeconds,
  });
  const { Credentials } = await blaming('aws_credentials', () => client.send(command));
  const { AccessKeyId, SecretAccessKey, SessionToken, Expiration } = Credentials ?? {};
  if (AccessKeyId === undefined || SecretAccessKey === undefined || SessionToken === undefined || !Expiration) {
    throw new Error('the AssumeRole response contains no credentials');
  }
  return {
    accessKeyId: AccessKeyId,
    secretAccessKey: new Secret(SecretAccessKey),
    sessionToken: new Secret(SessionToken),
    region: role.region,
    expiresAt: Expiration,
  };
}

/** Errors caused by Inlet's own identity, clock, or request rate. All other errors are caused by the role. */
const ownErrors = new Set([
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

function isRoleError(error: unknown): boolean {
  if (!(error instanceof STSServiceException) || ownErrors.has(error.name)) return false;
  return [400, 403, 404].includes(error.$metadata.httpStatusCode ?? 0);
}

function isDenial(error: unknown): boolean {
  if (!(error instanceof STSServiceException) || error.$metadata.httpStatusCode !== 403) return false;
  return error.name === 'AccessDenied' || error.name === 'AccessDeniedException';
}

/** Credentials must stay valid while a file that was opened with them is read. */
const marginMs = 15 * 60_000;
const maxCached = 1_000;

/** Caches role credentials in memory until shortly before they expire. Concurrent calls share one request. */
export function roleKeys(
  assume: (role: PartnerRole) => Promise<SessionKeys>,
  now: () => number = Date.now,
): (role: PartnerRole) => Promise<SessionKeys> {
  const cache = new Map<string, { readonly keys: Promise<SessionKeys>; validUntil: number }>();
  return async (role) => {
    const name = JSON.stringify([role.partnerId, role.externalId, role.region, role.roleArn]);
    const cached = cache.get(name);
    if (cached && cached.validUntil > now()) return cached.keys;
    const entry = { keys: assume(role), validUntil: Infinity };
    cache.delete(name);
    cache.set(name, entry);
    if (cache.size > maxCached) cache.delete(cache.keys().next().value ?? '');
    try {
      const keys = await entry.keys;
      entry.validUntil = keys.expiresAt.getTime() - marginMs;
      return keys;
    } catch (error) {
      if (cache.get(name) === entry) cache.delete(name);
      throw error;
    }
  };
}
