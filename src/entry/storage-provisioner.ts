import type { S3Client } from '@aws-sdk/client-s3';
import { cephStorageProvisioner } from '../adapters/ceph/storage-provisioner.ts';
import type { StorageProvisioner } from '../ports/object-store.ts';
import type { Config } from './config.ts';

/** Who gives out storage credentials: a Ceph gateway. Another storage gets an adapter of its own here. */
export function storageProvisioner(config: Config, owner: S3Client): StorageProvisioner {
  const accessKeyId = config.INLET_STORAGE_ADMIN_ACCESS_KEY_ID;
  const secretAccessKey = config.INLET_STORAGE_ADMIN_SECRET_ACCESS_KEY;
  const endpoint = config.INLET_S3_ENDPOINT;
  if (accessKeyId === undefined || secretAccessKey === undefined || endpoint === undefined) {
    throw new Error(
      'Set INLET_S3_ENDPOINT and INLET_STORAGE_ADMIN_* to give out storage credentials; or leave that to yourself: --without-storage.',
    );
  }
  const region = config.INLET_S3_REGION;
  return cephStorageProvisioner({ endpoint, region, accessKeyId, secretAccessKey }, owner, config.INLET_S3_BUCKET);
}

/** For storage without an interface of Ceph's: whoever runs it makes the credentials with its own tools. */
export const noStorageProvisioner: StorageProvisioner<null> = { provision: () => Promise.resolve(null) };
