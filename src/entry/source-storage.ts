import type { S3Client } from '@aws-sdk/client-s3';
import { openCredentials } from '../adapters/postgres/credentials.ts';
import type { Database } from '../adapters/postgres/db/tables.ts';
import { type AwsIdentity, assumeRole, roleKeys } from '../adapters/s3/assume-role.ts';
import { type S3Keys, revealedKeys } from '../adapters/s3/connect.ts';
import { partnerObjectStore } from '../adapters/s3/partner-object-store.ts';
import { Failure } from '../domain/failure.ts';
import { pathType } from '../domain/import-log.ts';
import type { Network } from '../domain/network-address.ts';
import {
  type BucketCredentials,
  type BucketKeys,
  type BucketRole,
  isRole,
  parsePartnerPath,
} from '../domain/partner-bucket.ts';
import type { PartnerId } from '../domain/ids.ts';
import type { Sealer } from '../ports/crypto.ts';
import type { DryRunStorage } from '../ports/dry-run.ts';
import type { JobSource, ObjectStore, SourceStorage } from '../ports/object-store.ts';
import type { PartnerStore } from '../ports/partner-store.ts';
import { type Config, partnerNetworksOf } from './config.ts';
import { sharedBucketKeys } from './shared-bucket.ts';

/**
 * Opens the shared bucket, or the partner's own bucket with the job's credentials. The credentials are decrypted only
 * while they are used.
 */
export function sourceStorage(deps: {
  readonly db: Database;
  readonly sealer: Sealer;
  readonly shared: ObjectStore;
  /** Throws if the shared bucket is not the one that was recorded. */
  readonly requireBucket: () => Promise<void>;
  readonly partnerEndpoint: string | null;
  readonly partnerNetworks: readonly Network[];
  readonly keysOfRole: (role: BucketRole, partnerId: PartnerId) => Promise<BucketKeys>;
  readonly instrument: (name: 'sharedBucket' | 'partnerBucket', objects: ObjectStore) => ObjectStore;
}): SourceStorage {
  const shared = deps.instrument('sharedBucket', deps.shared);
  return {
    withObjects: async (source, run) => {
      if (source.pathType === pathType.sharedBucket) {
        await deps.requireBucket();
        return run(shared);
      }
      const credentials = await openCredentials(deps.db, deps.sealer, source);
      if (!credentials) throw new Failure('credentials_required', "The job's credentials no longer exist.");
      return withPartnerBucket(deps, source, credentials, run);
    },
  };
}

type PartnerBuckets = {
  readonly partnerEndpoint: string | null;
  readonly partnerNetworks: readonly Network[];
  readonly keysOfRole: (role: BucketRole, partnerId: PartnerId) => Promise<BucketKeys>;
  readonly instrument: (name: 'sharedBucket' | 'partnerBucket', objects: ObjectStore) => ObjectStore;
};

async function withPartnerBucket<T>(
  deps: PartnerBuckets,
  source: Pick<JobSource, 'partnerId' | 'filePath'>,
  credentials: BucketCredentials,
  run: (objects: ObjectStore) => Promise<T>,
): Promise<T> {
  const keys = isRole(credentials) ? await deps.keysOfRole(credentials, source.partnerId) : credentials;
  const { bucket } = parsePartnerPath(source.filePath);
  const { close, ...objects } = partnerObjectStore({
    bucket,
    credentials: keys,
    endpoint: deps.partnerEndpoint,
    networks: deps.partnerNetworks,
    isOfRole: isRole(credentials),
  });
  try {
    return await run(deps.instrument('partnerBucket', objects));
  } finally {
    close();
  }
}

/** Opens the storage of a dry run, with the credentials of the request. Nothing is stored. */
export function dryRunStorage(deps: PartnerBuckets & { readonly shared: ObjectStore }): DryRunStorage {
  const shared = deps.instrument('sharedBucket', deps.shared);
  return {
    withObjects: async (source, credentials, run) =>
      credentials === null ? run(shared) : withPartnerBucket(deps, source, credentials, run),
  };
}

function roleKeysOf(config: Config): S3Keys | null {
  const { INLET_ROLE_ACCESS_KEY_ID: accessKeyId, INLET_ROLE_SECRET_ACCESS_KEY: secretAccessKey } = config;
  return accessKeyId === undefined || secretAccessKey === undefined ? null : { accessKeyId, secretAccessKey };
}

/**
 * Whether Inlet has an identity that can assume partners' roles: its own access keys, or the identity of the process,
 * if that is also used for the shared bucket.
 */
export function hasRoleIdentity(config: Config): boolean {
  return roleKeysOf(config) !== null || sharedBucketKeys(config) === null;
}

/** The client of the shared bucket finds and renews the identity of the process. Returns null if there is no identity. */
function roleIdentity(config: Config, s3: S3Client): AwsIdentity | null {
  const keys = roleKeysOf(config);
  if (keys) return () => Promise.resolve(revealedKeys(keys));
  return sharedBucketKeys(config) === null ? () => s3.config.credentials() : null;
}

type KeysOfRole = (role: BucketRole, partnerId: PartnerId) => Promise<BucketKeys>;

/** Assumes a partner's role to get temporary keys. */
export function partnerRoleKeys(config: Config, s3: S3Client, partners: PartnerStore): KeysOfRole {
  const identity = roleIdentity(config, s3);
  if (!identity) {
    return () =>
      Promise.reject(new Failure('roles_not_available', 'Inlet no longer has an identity that can assume roles.'));
  }
  const endpoint = config.INLET_PARTNER_S3_ENDPOINT ?? null;
  const settings = { identity, endpoint, networks: partnerNetworksOf(config) };
  const keysOf = roleKeys((role) => assumeRole(settings, role));
  return async (role, partnerId) =>
    keysOf({ ...role, partnerId, externalId: await partners.readExternalId(partnerId) });
}
