import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import type { Secret } from '../../domain/secret.ts';
import { blaming } from '../failed-dependency.ts';
import { agentLimits, type Agents } from '../guarded-agents.ts';
import { IdentityError } from '../transient-errors.ts';

export type S3Location = {
  /** Null for AWS. */
  readonly endpoint: string | null;
  readonly region: string;
};

export type S3Keys = {
  readonly accessKeyId: string;
  readonly secretAccessKey: Secret;
  /** Present for temporary credentials of an assumed role. */
  readonly sessionToken?: Secret;
};

/**
 * The identity of this process, which the AWS SDK finds and renews: environment variables, a profile, single sign-on, a
 * web identity (IRSA), a container, or an instance. It must be requested explicitly, so that missing keys of a partner
 * can never be replaced with Inlet's own identity.
 */
export type ProcessIdentity = { readonly identity: 'of the process' };

/**
 * Maximum time to wait for a storage response, per attempt. It is shorter for a partner's storage, because the request
 * occupies a worker slot while it waits and the operator cannot fix a partner's storage.
 */
export const responseTimeoutMs = { shared: 60_000, partner: 20_000 };

export function connectS3(settings: S3Location & (S3Keys | ProcessIdentity), guarded?: Agents): S3Client {
  const client = new S3Client({
    ...(settings.endpoint === null ? {} : { endpoint: settings.endpoint, forcePathStyle: true }),
    ...(guarded ? fixedRouting(settings) : {}),
    region: settings.region,
    ...('identity' in settings ? {} : { credentials: revealedKeys(settings) }),
    maxAttempts: 3,
    // Not every S3 server supports these checksums. Inlet checks the ETag and the length instead.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: 10_000, // includes waiting for a free socket
      requestTimeout: guarded ? responseTimeoutMs.partner : responseTimeoutMs.shared,
      throwOnRequestTimeout: true, // the default only logs a warning
      socketTimeout: 300_000, // detects a stalled body; long enough for a slow ClickHouse server to consume it
      httpAgent: guarded?.http ?? agentLimits,
      ...(guarded ? { httpsAgent: guarded.https } : {}),
    },
  });
  if ('identity' in settings) nameIdentityErrors(client);
  client.middlewareStack.add((next) => (request) => blaming(storageOf(guarded), () => next(request)), {
    step: 'initialize',
    priority: 'high',
  });
  return client;
}

/** The agents are guarded if a partner chose the bucket. */
export function storageOf(guarded: Agents | undefined): 'storage' | 'partner_storage' {
  return guarded ? 'partner_storage' : 'storage';
}

/**
 * Without a separate name, a rejection by STS, for example `AccessDenied` for a web identity (IRSA), could not be
 * distinguished from a rejection by the storage.
 */
function nameIdentityErrors({ config }: S3Client): void {
  const find = config.credentials;
  config.credentials = async (options) => {
    try {
      return await find(options);
    } catch (error) {
      throw new IdentityError(error);
    }
  };
}

export function revealedKeys({ accessKeyId, secretAccessKey, sessionToken }: S3Keys) {
  return {
    accessKeyId,
    secretAccessKey: secretAccessKey.reveal(),
    ...(sessionToken ? { sessionToken: sessionToken.reveal() } : {}),
  };
}

function fixedRouting({ endpoint, region }: S3Location): S3ClientConfig {
  return {
    ...fixedEndpoint(endpoint ?? `https://s3.${region}.amazonaws.com`),
    useAccelerateEndpoint: false,
    useArnRegion: false,
    followRegionRedirects: false,
  };
}

/**
 * Overrides endpoints from the SDK's environment variables and files, so that partner credentials are sent only to the
 * configured addresses.
 */
export function fixedEndpoint(endpoint: string) {
  return { endpoint, useDualstackEndpoint: false, useFipsEndpoint: false, defaultsMode: 'legacy' } as const;
}
