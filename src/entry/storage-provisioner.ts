import type { S3Client } from '@aws-sdk/client-s3';
import type { CephAdmin } from '../adapters/ceph/signed-request.ts';
import { cephStorageKeys } from '../adapters/ceph/storage-keys.ts';
import { cephStorageProvisioner } from '../adapters/ceph/storage-provisioner.ts';
import { removeStorageUser } from '../adapters/ceph/storage-user.ts';
import type { StorageKeys, StorageProvisioner } from '../ports/object-store.ts';
import type { Config } from './config.ts';

/** Creates storage credentials with a Ceph gateway. Other kinds of storage need a separate adapter. */
export function storageProvisioner(config: Config, owner: S3Client): StorageProvisioner {
  const admin = cephAdminOf(config);
  if (!admin) {
    throw new Error(
      'Cannot create storage credentials. Set INLET_S3_ENDPOINT and INLET_STORAGE_ADMIN_*, or use --without-storage and create them yourself.',
    );
  }
  return cephStorageProvisioner(admin, owner, config.INLET_S3_BUCKET);
}

/** Returns null if this process has no storage administrator credentials, as is usual for the API and workers. */
export function storageKeysOf(config: Config): StorageKeys | null {
  const admin = cephAdminOf(config);
  return admin && cephStorageKeys(admin, config.INLET_S3_BUCKET);
}

/** Returns null if this process has no storage administrator credentials. */
export function storageUserRemoverOf(config: Config): ((partnerName: string) => Promise<void>) | null {
  const admin = cephAdminOf(config);
  return admin && ((partnerName) => removeStorageUser(admin, partnerName));
}

function cephAdminOf(config: Config): CephAdmin | null {
  const accessKeyId = config.INLET_STORAGE_ADMIN_ACCESS_KEY_ID;
  const secretAccessKey = config.INLET_STORAGE_ADMIN_SECRET_ACCESS_KEY;
  const endpoint = config.INLET_S3_ENDPOINT;
  if (accessKeyId === undefined || secretAccessKey === undefined || endpoint === undefined) return null;
  return { endpoint, region: config.INLET_S3_REGION, accessKeyId, secretAccessKey };
}

/** For other kinds of storage, whose credentials the operator creates with the storage's own tools. */
export const noStorageProvisioner: StorageProvisioner<null> = { provision: () => Promise.resolve(null) };
