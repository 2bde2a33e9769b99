import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import type { Secret } from '../../domain/secret.ts';
import { agentLimits, type Agents } from '../guarded-agents.ts';

export type S3Settings = {
  /** Null for AWS itself. */
  readonly endpoint: string | null;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: Secret;
  /** Of keys that a role was given for a time. */
  readonly sessionToken?: Secret;
};

export function connectS3(settings: S3Settings, guarded?: Agents): S3Client {
  return new S3Client({
    ...(settings.endpoint === null ? {} : { endpoint: settings.endpoint, forcePathStyle: true }),
    ...(guarded ? onlyOurs(settings) : {}),
    region: settings.region,
    credentials: {
      accessKeyId: settings.accessKeyId,
      secretAccessKey: settings.secretAccessKey.reveal(),
      ...(settings.sessionToken ? { sessionToken: settings.sessionToken.reveal() } : {}),
    },
    maxAttempts: 3,
    // Sums that the server need not know; the ETag and the length are checked.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: 10_000, // includes the wait for one of the sockets below
      requestTimeout: 60_000,
      throwOnRequestTimeout: true, // otherwise it only prints a warning
      socketTimeout: 300_000, // a body that stands still; long enough for an engine that is slow to take it
      httpAgent: guarded?.http ?? agentLimits,
      ...(guarded ? { httpsAgent: guarded.https } : {}),
    },
  });
}

function onlyOurs({ endpoint, region }: S3Settings): S3ClientConfig {
  return {
    ...nothingFromOutside(endpoint ?? `https://s3.${region}.amazonaws.com`),
    useAccelerateEndpoint: false,
    useArnRegion: false,
    followRegionRedirects: false,
  };
}

/** The SDK also takes these from its own variables and files; where a partner's keys go, only our settings count. */
export function nothingFromOutside(endpoint: string) {
  return { endpoint, useDualstackEndpoint: false, useFipsEndpoint: false, defaultsMode: 'legacy' } as const;
}
