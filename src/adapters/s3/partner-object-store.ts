import { S3ServiceException } from '@aws-sdk/client-s3';
import { Failure } from '../../domain/failure.ts';
import type { FailureCode } from '../../domain/failure-catalogue.ts';
import type { BucketCredentials } from '../../domain/partner-bucket.ts';
import type { ObjectStore } from '../../ports/object-store.ts';
import { connectS3 } from './connect.ts';
import { s3ObjectStore } from './object-store.ts';

export type PartnerBucket = {
  readonly bucket: string;
  readonly credentials: BucketCredentials;
  /** From our own configuration, never from a request. */
  readonly endpoint: string | null;
};

/** A partner's own bucket: what the storage refuses is the partner's to mend, so each refusal has a code of its own. */
export function partnerObjectStore({
  bucket,
  credentials,
  endpoint,
}: PartnerBucket): ObjectStore & { close: () => void } {
  const client = connectS3({ endpoint, ...credentials });
  const store = s3ObjectStore(client, bucket);
  return {
    find: async (key) => {
      try {
        return await store.find(key);
      } catch (error) {
        // The answer to a HEAD has no body, so it does not say why; that to a listing does.
        await explained(bucket, () => store.list(key, 1));
        throw explain(bucket, error);
      }
    },
    list: (prefix, limit) => explained(bucket, () => store.list(prefix, limit)),
    open: (object, signal) => explained(bucket, () => store.open(object, signal)),
    read: (object, maxBytes, signal) => explained(bucket, () => store.read(object, maxBytes, signal)),
    close: () => client.destroy(),
  };
}

const codeByName: Readonly<Record<string, FailureCode>> = {
  InvalidAccessKeyId: 'storage_credentials_rejected',
  SignatureDoesNotMatch: 'storage_credentials_rejected',
  InvalidToken: 'storage_credentials_rejected',
  ExpiredToken: 'storage_credentials_rejected',
  AccountProblem: 'storage_credentials_rejected',
  NoSuchBucket: 'bucket_not_found',
  AccessDenied: 'storage_access_denied',
  AllAccessDisabled: 'storage_access_denied',
  PermanentRedirect: 'bucket_in_other_region',
  TemporaryRedirect: 'bucket_in_other_region',
  AuthorizationHeaderMalformed: 'bucket_in_other_region',
  IllegalLocationConstraintException: 'bucket_in_other_region',
};

/** Where no name is given the status has to do. */
const codeByStatus: Readonly<Record<number, FailureCode>> = {
  301: 'bucket_in_other_region',
  307: 'bucket_in_other_region',
  403: 'storage_access_denied',
};

async function explained<T>(bucket: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw explain(bucket, error);
  }
}

/** Our own to mend, or only a matter of time: tried again. */
const passing = new Set(['RequestTimeTooSkewed', 'SlowDown', 'TooManyRequests', 'RequestTimeout']);
const passingStatus = new Set([408, 429]);

function codeOf(name: string, status: number): FailureCode | undefined {
  if (passing.has(name) || passingStatus.has(status)) return undefined;
  const known = codeByName[name] ?? codeByStatus[status];
  return known ?? (status >= 400 && status < 500 ? 'storage_refused' : undefined);
}

function explain(bucket: string, error: unknown): unknown {
  if (!(error instanceof S3ServiceException)) return error;
  const code = codeOf(error.name, error.$metadata.httpStatusCode ?? 0);
  if (code === undefined) return error;
  return new Failure(code, `The storage answered "${error.name}" for the bucket "${bucket}".`, { cause: error });
}
