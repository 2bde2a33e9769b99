import type { S3Client } from '@aws-sdk/client-s3';
import { type SignableRequest, presignUrl } from '../sign-request.ts';

export type PublicBucket = {
  /** The address of the storage for browsers and partners. Null for AWS. */
  readonly publicEndpoint: string | null;
  readonly region: string;
  readonly bucket: string;
};

/** The SDK renews credentials in the background when they expire this soon, and returns the old ones until then. */
const renewalMs = 5 * 60_000;

/**
 * Signs a URL with the client's credentials. The storage rejects a URL after its credentials have expired, so a URL that is
 * signed with temporary credentials never claims to be valid for longer. Credentials that are about to expire are renewed
 * first, because the URL would expire before it is used.
 */
export async function presignWith(
  client: S3Client,
  region: string,
  request: SignableRequest,
  seconds: number,
): Promise<string> {
  const found = await client.config.credentials();
  const isAboutToExpire = found.expiration && found.expiration.getTime() - Date.now() < renewalMs;
  const keys = isAboutToExpire ? await client.config.credentials({ forceRefresh: true }).catch(() => found) : found;
  const secondsLeft = keys.expiration ? Math.floor((keys.expiration.getTime() - Date.now()) / 1000) : seconds;
  return presignUrl(keys, region, request, Math.max(1, Math.min(seconds, secondsLeft)));
}

/** The bucket is part of the path, except on AWS. A name with dots does not match AWS's certificate. */
export function publicUrlOf({ publicEndpoint, region, bucket }: PublicBucket) {
  const isHost = publicEndpoint === null && !bucket.includes('.');
  const aws = `https://${isHost ? `${bucket}.` : ''}s3.${region}.amazonaws.com`;
  const { protocol, hostname, port, pathname } = new URL(publicEndpoint ?? aws);
  return {
    protocol,
    hostname,
    ...(port === '' ? {} : { port: Number(port) }),
    path: `${pathname.replace(/\/$/, '')}/${isHost ? '' : `${bucket}/`}`,
  };
}
