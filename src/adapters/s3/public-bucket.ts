import type { S3Settings } from './connect.ts';

/** `publicEndpoint` is the address of the storage for browsers and partners. Null for AWS. */
export type PublicBucket = Omit<S3Settings, 'endpoint' | 'sessionToken'> & {
  readonly publicEndpoint: string | null;
  readonly bucket: string;
};

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
