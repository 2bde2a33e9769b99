import { awsRegions } from './aws-regions.ts';
import { Failure } from './failure.ts';
import type { Secret } from './secret.ts';
import { invalidFilePath, pathProblem, requireKeyLength } from './source-path.ts';

export type BucketKeys = {
  readonly accessKeyId: string;
  readonly secretAccessKey: Secret;
  readonly region: string;
};

/** A role in the partner's account; see 0034. */
export type BucketRole = { readonly roleArn: string; readonly region: string };

/** What a partner gives to let us read its own bucket. */
export type BucketCredentials = BucketKeys | BucketRole;

export function isRole(credentials: BucketCredentials): credentials is BucketRole {
  return 'roleArn' in credentials;
}

/** S3's rules for names, without those that are addresses or have a special meaning. */
const bucketPattern =
  /^(?!xn--|sthree-|amzn-s3-demo-)(?!.*(?:-s3alias|--ol-s3|\.mrap|--x-s3|--table-s3)$)[a-z0-9](?:[a-z0-9.-]{1,61})[a-z0-9]$/;
const addressPattern = /^\d+\.\d+\.\d+\.\d+$/;

/** Reads `s3://<bucket>/<path>`. */
export function parsePartnerPath(filePath: string): { readonly bucket: string; readonly key: string } {
  const found = /^s3:\/\/([^/]*)\/(.*)$/s.exec(filePath);
  const [bucket, key] = [found?.[1], found?.[2]];
  if (bucket === undefined || key === undefined) throw invalidFilePath('must have the form s3://<bucket>/<path>');
  if (!bucketPattern.test(bucket) || bucket.includes('..') || addressPattern.test(bucket)) {
    throw invalidFilePath('names a bucket that cannot exist');
  }
  const problem = pathProblem(key);
  if (problem !== null) throw invalidFilePath(problem);
  requireKeyLength(key);
  return { bucket, key };
}

/** IAM's rules for roles. A storage on premises has no accounts, and leaves the number out. */
const rolePattern = /^arn:aws:iam::(?:\d{12})?:role\/(?:[\w+=,.@-]+\/)*[\w+=,.@-]{1,64}$/;

export function requireRoleArn(roleArn: string): void {
  if (rolePattern.test(roleArn) && roleArn.length <= 600) return;
  const detail = 'roleArn must have the form arn:aws:iam::<account>:role/<name>.';
  throw new Failure('invalid_role_arn', detail, { fields: [{ pointer: '/credentials/roleArn', detail }] });
}

export function requireKnownRegion(region: string): void {
  if (awsRegions.has(region)) return;
  const detail = `"${region}" is not a region in which partner buckets can be read.`;
  throw new Failure('invalid_region', detail, { fields: [{ pointer: '/credentials/region', detail }] });
}
