import { z } from 'zod';
import { networks, secret } from './setting-types.ts';

// Settings for object storage and for the identities that Inlet uses there.

const accessKeyId = z.string().min(1).optional();

export const storageSettings = {
  INLET_S3_ENDPOINT: z.url().optional().describe('URL of the object storage. Omit it for AWS.'),
  INLET_S3_PUBLIC_ENDPOINT: z
    .url()
    .optional()
    .describe(
      'URL of the object storage for browsers and partners, if it differs from `INLET_S3_ENDPOINT`. Upload URLs start with it.',
    ),
  INLET_S3_REGION: z.string().default('us-east-1').describe('Region of the shared bucket.'),
  INLET_S3_BUCKET: z.string().min(3).describe('Name of the shared bucket to which partners upload.'),
  INLET_S3_ACCESS_KEY_ID: accessKeyId.describe(
    "Access key of the shared bucket's owner. Omit it on AWS: the AWS SDK's default credential chain then finds temporary credentials (IRSA, EKS Pod Identity, ECS, instance profile, SSO, or `AWS_*` variables). See [operators/aws.md](operators/aws.md).",
  ),
  INLET_S3_SECRET_ACCESS_KEY: secret
    .optional()
    .describe('Secret access key for `INLET_S3_ACCESS_KEY_ID`. Set both or neither.'),
  INLET_STORAGE_ADMIN_ACCESS_KEY_ID: accessKeyId.describe(
    'Access key of a Ceph admin user (`users=*;user-policy=*`). Required for `inlet partner create` without `--without-storage`. If the API and the workers have it, partners can rotate and revoke their storage keys.',
  ),
  INLET_STORAGE_ADMIN_SECRET_ACCESS_KEY: secret
    .optional()
    .describe('Secret access key for `INLET_STORAGE_ADMIN_ACCESS_KEY_ID`.'),
  INLET_PARTNER_S3_ENDPOINT: z
    .url()
    .optional()
    .describe('URL of the storage that contains partner-owned buckets. Omit it for AWS. Requests cannot change it.'),
  INLET_PARTNER_S3_NETWORKS: networks
    .optional()
    .describe(
      'Comma-separated private networks in which partner-owned storage is allowed, for example `10.1.2.0/24`. By default, workers read partner-owned buckets only from public addresses.',
    ),
  INLET_ROLE_ACCESS_KEY_ID: accessKeyId.describe(
    "Access key of the identity with which Inlet assumes partners' roles. If it is not set, Inlet uses the default credential chain, provided that `INLET_S3_ACCESS_KEY_ID` is not set either. Otherwise, partners must send access keys.",
  ),
  INLET_ROLE_SECRET_ACCESS_KEY: secret
    .optional()
    .describe('Secret access key for `INLET_ROLE_ACCESS_KEY_ID`. Set both or neither.'),
};

const keyPairs = [
  ['INLET_S3_ACCESS_KEY_ID', 'INLET_S3_SECRET_ACCESS_KEY'],
  ['INLET_ROLE_ACCESS_KEY_ID', 'INLET_ROLE_SECRET_ACCESS_KEY'],
] as const;

type StorageConfig = z.infer<z.ZodObject<typeof storageSettings>>;

/** If only half of a key is set, Inlet must not silently use another identity. */
export function findHalfKeys(config: StorageConfig): { name: string; message: string }[] {
  return keyPairs.flatMap(([id, ofSecret]) => {
    const [hasId, hasSecret] = [config[id] !== undefined, config[ofSecret] !== undefined];
    if (hasId === hasSecret) return [];
    const [missing, given] = hasId ? [ofSecret, id] : [id, ofSecret];
    return [{ name: missing, message: `is required, because ${given} is set` }];
  });
}
