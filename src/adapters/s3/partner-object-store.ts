import { S3ServiceException } from '@aws-sdk/client-s3';
import type { FailureCode } from '../../domain/failure-catalogue.ts';
import { Failure } from '../../domain/failure.ts';
import type { Network } from '../../domain/network-address.ts';
import type { BucketKeys } from '../../domain/partner-bucket.ts';
import type { Secret } from '../../domain/secret.ts';
import type { ObjectStore } from '../../ports/object-store.ts';
import { type Resolve, destroyAgents, guardedAgents } from '../guarded-agents.ts';
import { connectS3 } from './connect.ts';
import { s3ObjectStore } from './object-store.ts';

export type PartnerBucket = {
  readonly bucket: string;
  readonly credentials: BucketKeys & { readonly sessionToken?: Secret };
  /** From our own configuration, never from a request. */
  readonly endpoint: string | null;
  /** Those that are not public and may be reached all the same; from our own configuration too. */
  readonly networks: readonly Network[];
  readonly resolve?: Resolve;
};

/** A partner's own bucket: what the storage refuses is the partner's to mend, so each refusal has a code of its own. */
export function partnerObjectStore({
  bucket,
  credentials,
  endpoint,
  networks,
  resolve,
}: PartnerBucket): ObjectStore & { close: () => void } {
  const agents = guardedAgents(networks, resolve);
  const client = connectS3({ endpoint, ...credentials }, agents);
  const store = s3ObjectStore(client, bucket, agents);
  const asked: Asked = { bucket, isSession: credentials.sessionToken !== undefined };
  return {
    find: async (key) => {
      try {
        return await store.find(key);
      } catch (error) {
        // The answer to a HEAD has no body, so it does not say why; that to a listing does.
        await explained(asked, () => store.list(key, 1));
        throw explain(asked, error);
      }
    },
    list: (prefix, limit) => explained(asked, () => store.list(prefix, limit)),
    open: (object, signal) => explained(asked, () => store.open(object, signal)),
    read: (object, maxBytes, signal) => explained(asked, () => store.read(object, maxBytes, signal)),
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

type Asked = {
  readonly bucket: string;
  /** With keys of a role, which end by themselves. */ readonly isSession: boolean;
};

async function explained<T>(asked: Asked, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw explain(asked, error);
  }
}

/** Our own to mend, or only a matter of time: tried again. */
const passing = new Set(['RequestTimeTooSkewed', 'SlowDown', 'TooManyRequests', 'RequestTimeout']);
const passingStatus = new Set([408, 429]);

function codeOf(name: string, status: number): FailureCode | undefined {
  if (passing.has(name) || passingStatus.has(status)) return undefined;
  return codeByName[name] ?? codeOfStatus(status);
}

/** Where no name is given the status has to do. */
function codeOfStatus(status: number): FailureCode | undefined {
  if (status >= 300 && status < 400) return 'bucket_in_other_region';
  if (status === 403) return 'storage_access_denied';
  return status >= 400 && status < 500 ? 'storage_refused' : undefined;
}

function explain({ bucket, isSession }: Asked, error: unknown): unknown {
  if (!(error instanceof S3ServiceException)) return error;
  if (isSession && error.name === 'ExpiredToken') return error;
  const code = codeOf(error.name, error.$metadata.httpStatusCode ?? 0);
  if (code === undefined) return error;
  return new Failure(code, `The storage answered "${error.name}" for the bucket "${bucket}".`, { cause: error });
}
