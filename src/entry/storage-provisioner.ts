import type { S3Client } from '@aws-sdk/client-s3';
import { cephStorageProvisioner } from '../adapters/ceph/storage-provisioner.ts';
import type { StorageProvisioner } from '../ports/object-store.ts';
import type { Config } from './config.ts';

/** Creates storage credentials with a Ceph gateway. Other kinds of storage need a separate adapter. */
export function storageProvisioner(config: Config, owner: S3Client): StorageProvisioner {
  const accessKeyId = config.INLET_STORAGE_ADMIN_ACCESS_KEY_ID;
  const secretAccessKey = config.INLET_STORAGE_ADMIN_SECRET_ACCESS_KEY;
  const endpoint = config.INLET_S3_ENDPOINT;
  if (accessKeyId === undefined || secretAccessKey === undefined || endpoint === undefined) {
    throw new Error(
      'Cannot create storage credentials. Set INLET_S3_ENDPOINT and INLET_STORAGE_ADMIN_*, or use --without-storage and create them yourself.',
    );
  }
  const region = config.INLET_S3_REGION;
  return cephStorageProvisioner({ endpoint, region, accessKeyId, secretAccessKey }, owner, config.INLET_S3_BUCKET);
}

/** For other kinds of storage, whose credentials the operator creates with the storage's own tools. */
export const noStorageProvisioner: StorageProvisioner<null> = { provision: () => Promise.resolve(null) };
