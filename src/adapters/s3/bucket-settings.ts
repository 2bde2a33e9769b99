import {
  type CORSRule,
  GetBucketCorsCommand,
  GetBucketLifecycleConfigurationCommand,
  type LifecycleRule,
  PutBucketCorsCommand,
  PutBucketLifecycleConfigurationCommand,
  type S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { isDeepStrictEqual } from 'node:util';
import { abandonedUploadDays } from '../../domain/upload.ts';

/** Browsers may upload from this origin and read the ETag of a stored part. */
function corsRuleFor(origin: string): CORSRule {
  return {
    ID: 'inlet-console',
    AllowedOrigins: [origin],
    AllowedMethods: ['PUT'],
    AllowedHeaders: ['*'],
    ExposeHeaders: ['ETag'],
    MaxAgeSeconds: 3_600,
  };
}

const lifecycleRule: LifecycleRule = {
  ID: 'inlet-abandoned-uploads',
  Status: 'Enabled',
  Filter: { Prefix: '' },
  AbortIncompleteMultipartUpload: { DaysAfterInitiation: abandonedUploadDays },
};

/**
 * Adds the rules for uploads to the bucket, and keeps other rules. If there is no origin, no rule for browsers is
 * needed. Returns the names of the rules that were added or changed.
 */
export async function ensureUploadRules(client: S3Client, bucket: string, origin: string | null): Promise<string[]> {
  const missing = await findMissingRules(client, bucket, origin);
  for (const { put } of missing) await put();
  return missing.map(({ name }) => name);
}

export async function findMissingRules(
  client: S3Client,
  bucket: string,
  origin: string | null,
): Promise<{ readonly name: string; readonly put: () => Promise<void> }[]> {
  const [cors, lifecycle] = await Promise.all([readCors(client, bucket), readLifecycle(client, bucket)]);
  const corsRule = origin === null ? null : corsRuleFor(origin);
  return [
    ...(corsRule === null || cors.some((rule) => isDeepStrictEqual(rule, corsRule))
      ? []
      : [
          {
            name: 'CORS',
            put: async () => {
              const rules = [...cors.filter(({ ID: id }) => id !== corsRule.ID), corsRule];
              await client.send(new PutBucketCorsCommand({ Bucket: bucket, CORSConfiguration: { CORSRules: rules } }));
            },
          },
        ]),
    ...(lifecycle.some((rule) => isSameLifecycle(rule))
      ? []
      : [
          {
            name: 'lifecycle',
            put: async () => {
              const rules = [...lifecycle.filter(({ ID: id }) => id !== lifecycleRule.ID), lifecycleRule];
              await client.send(
                new PutBucketLifecycleConfigurationCommand({
                  Bucket: bucket,
                  LifecycleConfiguration: { Rules: rules },
                }),
              );
            },
          },
        ]),
  ];
}

/** Storages return an empty filter in different forms. */
function isSameLifecycle(rule: LifecycleRule): boolean {
  return (
    rule.ID === lifecycleRule.ID &&
    rule.Status === 'Enabled' &&
    rule.AbortIncompleteMultipartUpload?.DaysAfterInitiation === abandonedUploadDays
  );
}

async function readCors(client: S3Client, bucket: string): Promise<CORSRule[]> {
  return unlessMissing(async () => (await client.send(new GetBucketCorsCommand({ Bucket: bucket }))).CORSRules ?? []);
}

async function readLifecycle(client: S3Client, bucket: string): Promise<LifecycleRule[]> {
  return unlessMissing(
    async () => (await client.send(new GetBucketLifecycleConfigurationCommand({ Bucket: bucket }))).Rules ?? [],
  );
}

async function unlessMissing<Rule>(read: () => Promise<Rule[]>): Promise<Rule[]> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof S3ServiceException) || error.name === 'NoSuchBucket') throw error;
    if (error.$metadata.httpStatusCode === 404) return [];
    throw error;
  }
}
