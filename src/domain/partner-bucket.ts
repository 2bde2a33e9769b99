import { Failure } from './failure.ts';
import type { Secret } from './secret.ts';
import { invalidFilePath, pathProblem, requireKeyLength } from './source-file.ts';

export type BucketKeys = {
  readonly accessKeyId: string;
  readonly secretAccessKey: Secret;
  /** Present for temporary credentials. */
  readonly sessionToken?: Secret;
  readonly region: string;
};

/** A role in the partner's account. See docs/decisions/partner-buckets.md. */
export type BucketRole = { readonly roleArn: string; readonly region: string };

/** Credentials that let Inlet read a partner's own bucket. */
export type BucketCredentials = BucketKeys | BucketRole;

export function isRole(credentials: BucketCredentials): credentials is BucketRole {
  return 'roleArn' in credentials;
}

/** S3's naming rules, without IP addresses and reserved names. */
const bucketPattern =
  /^(?!xn--|sthree-|amzn-s3-demo-)(?!.*(?:-s3alias|--ol-s3|\.mrap|--x-s3|--table-s3)$)[a-z0-9](?:[a-z0-9.-]{1,61})[a-z0-9]$/;
const addressPattern = /^\d+\.\d+\.\d+\.\d+$/;

/** Reads `s3://<bucket>/<path>`. The path is empty for the root of the bucket. */
export function parsePartnerPath(filePath: string): { readonly bucket: string; readonly key: string } {
  const found = /^s3:\/\/([^/]*)\/(.*)$/s.exec(filePath);
  const [bucket, key] = [found?.[1], found?.[2]];
  if (bucket === undefined || key === undefined) throw invalidFilePath('must have the form s3://<bucket>/<path>');
  if (!bucketPattern.test(bucket) || bucket.includes('..') || addressPattern.test(bucket)) {
    throw invalidFilePath('contains an invalid bucket name');
  }
  const problem = key === '' ? null : pathProblem(key);
  if (problem !== null) throw invalidFilePath(problem);
  requireKeyLength(key);
  return { bucket, key };
}

/** IAM's rules for role ARNs. On-premises storage has no accounts, so the account number is optional. */
const rolePattern = /^arn:aws:iam::(?:\d{12})?:role\/(?:[\w+=,.@-]+\/)*[\w+=,.@-]{1,64}$/;

export function requireRoleArn(roleArn: string): void {
  if (rolePattern.test(roleArn) && roleArn.length <= 600) return;
  const detail = 'roleArn must have the form arn:aws:iam::<account>:role/<name>.';
  throw new Failure('invalid_role_arn', detail, { fields: [{ pointer: '/credentials/roleArn', detail }] });
}

export function requireKnownRegion(region: string): void {
  if (awsRegions.has(region)) return;
  const detail = `"${region}" is not a supported AWS region.`;
  throw new Failure('invalid_region', detail, { fields: [{ pointer: '/credentials/region', detail }] });
}

/** Regions of partner-owned buckets. The list is fixed, so that a partner cannot pass a host name as a region. */
export const awsRegions: ReadonlySet<string> = new Set([
  'af-south-1',
  'ap-east-1',
  'ap-east-2',
  'ap-northeast-1',
  'ap-northeast-2',
  'ap-northeast-3',
  'ap-south-1',
  'ap-south-2',
  'ap-southeast-1',
  'ap-southeast-2',
  'ap-southeast-3',
  'ap-southeast-4',
  'ap-southeast-5',
  'ap-southeast-6',
  'ap-southeast-7',
  'ca-central-1',
  'ca-west-1',
  'eu-central-1',
  'eu-central-2',
  'eu-north-1',
  'eu-south-1',
  'eu-south-2',
  'eu-west-1',
  'eu-west-2',
  'eu-west-3',
  'il-central-1',
  'me-central-1',
  'me-south-1',
  'mx-central-1',
  'sa-east-1',
  'us-east-1',
  'us-east-2',
  'us-west-1',
  'us-west-2',
]);
