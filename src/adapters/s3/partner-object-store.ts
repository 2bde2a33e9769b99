import { S3ServiceException } from '@aws-sdk/client-s3';
import type { FailureCode } from '../../domain/failure-catalog.ts';
import { Failure } from '../../domain/failure.ts';
import type { Network } from '../../domain/network-address.ts';
import type { BucketKeys } from '../../domain/partner-bucket.ts';
import type { ObjectStore } from '../../ports/object-store.ts';
import { type Resolve, destroyAgents, guardedAgents } from '../guarded-agents.ts';
import { connectS3 } from './connect.ts';
import { s3ObjectStore } from './object-store.ts';

export type PartnerBucket = {
  readonly bucket: string;
  readonly credentials: BucketKeys;
  /** Whether Inlet obtained the credentials itself, from a role. The partner is then not responsible for their expiry. */
  readonly isOfRole?: boolean;
  /** Endpoint from the configuration, never from a request. */
  readonly endpoint: string | null;
  /** Private networks to which connections are allowed, also from the configuration. */
  readonly networks: readonly Network[];
  readonly resolve?: Resolve;
};

/**
 * Reads a partner-owned bucket. Only the partner can fix a storage error here, so each kind of error has its own
 * failure code.
 */
export function partnerObjectStore({
  bucket,
  credentials,
  endpoint,
  networks,
  resolve,
  isOfRole = false,
}: PartnerBucket): ObjectStore & { close: () => void } {
  const agents = guardedAgents(networks, resolve);
  const client = connectS3({ endpoint, ...credentials }, agents);
  const store = s3ObjectStore(client, bucket, agents);
  const context: Context = { bucket, isOfRole };
  return {
    find: async (key) => {
      try {
        return await store.find(key);
      } catch (error) {
        // A HEAD response has no body and therefore no error code. A list request returns the reason.
        await explained(context, () => store.list(key, 1));
        throw explain(context, error);
      }
    },
    list: (prefix, limit) => explained(context, () => store.list(prefix, limit)),
    open: (object, signal) => explained(context, () => store.open(object, signal)),
    read: (object, maxBytes, signal) => explained(context, () => store.read(object, maxBytes, signal)),
    close: () => {
      client.destroy();
      destroyAgents(agents);
    },
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

type Context = {
  readonly bucket: string;
  readonly isOfRole: boolean;
};

async function explained<T>(context: Context, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw explain(context, error);
  }
}

/** Transient errors, and errors caused by Inlet's own clock. Both are retried. */
const transient = new Set(['RequestTimeTooSkewed', 'SlowDown', 'TooManyRequests', 'RequestTimeout']);
const transientStatuses = new Set([408, 429]);

function codeOf(name: string, status: number): FailureCode | undefined {
  if (transient.has(name) || transientStatuses.has(status)) return undefined;
  return codeByName[name] ?? codeOfStatus(status);
}

/** Fallback for responses without a known error code. */
function codeOfStatus(status: number): FailureCode | undefined {
  if (status >= 300 && status < 400) return 'bucket_in_other_region';
  if (status === 403) return 'storage_access_denied';
  return status >= 400 && status < 500 ? 'storage_refused' : undefined;
}

function explain({ bucket, isOfRole }: Context, error: unknown): unknown {
  if (!(error instanceof S3ServiceException)) return error;
  if (isOfRole && error.name === 'ExpiredToken') return error;
  const code = codeOf(error.name, error.$metadata.httpStatusCode ?? 0);
  if (code === undefined) return error;
  return new Failure(code, `The storage returned "${error.name}" for the bucket "${bucket}".`, { cause: error });
}
