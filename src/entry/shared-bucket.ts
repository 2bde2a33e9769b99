import type { S3Client } from '@aws-sdk/client-s3';
import { randomUUID } from 'node:crypto';
import { readRecordedBucket, recordBucket } from '../adapters/postgres/source-bucket.ts';
import type { Database } from '../adapters/postgres/db/tables.ts';
import { readBucketIdentity, writeBucketIdentity } from '../adapters/s3/bucket-identity.ts';
import { ensureUploadRules } from '../adapters/s3/bucket-settings.ts';
import {
  type BucketOwner,
  ensureBucketNotifications,
  removeBucketNotifications,
} from '../adapters/ceph/bucket-notifications.ts';
import { notificationsPath } from '../adapters/notifications/receiver.ts';
import { notificationTokens } from '../adapters/vault/keys.ts';
import { type S3Keys, connectS3 } from '../adapters/s3/connect.ts';
import type { PublicBucket } from '../adapters/s3/public-bucket.ts';
import { Failure } from '../domain/failure.ts';
import { Secret } from '../domain/secret.ts';
import type { Log } from '../ports/observability.ts';
import type { Config } from './config.ts';

/** Connects to the storage of the shared bucket. */
export function connectSharedStorage(config: Config): S3Client {
  return connectS3({
    endpoint: config.INLET_S3_ENDPOINT ?? null,
    region: config.INLET_S3_REGION,
    ...(sharedBucketKeys(config) ?? { identity: 'of the process' }),
  });
}

/** Returns null if the AWS SDK's default credential chain is used. */
export function sharedBucketKeys(config: Config): S3Keys | null {
  const { INLET_S3_ACCESS_KEY_ID: accessKeyId, INLET_S3_SECRET_ACCESS_KEY: secretAccessKey } = config;
  return accessKeyId === undefined || secretAccessKey === undefined ? null : { accessKeyId, secretAccessKey };
}

/**
 * Records the ID of the bucket, unless an ID is already recorded. Assigns an ID first if the bucket has none.
 * Migrations do not need the storage, so a failure is only reported. The next migration tries again.
 */
export async function recordSharedBucket(config: Config, db: Database, log: Log): Promise<void> {
  if ((await readRecordedBucket(db)) !== null) return;
  const s3 = connectSharedStorage(config);
  try {
    const found = await readBucketIdentity(s3, config.INLET_S3_BUCKET);
    const identity = found ?? randomUUID();
    if (found === null) await writeBucketIdentity(s3, config.INLET_S3_BUCKET, identity);
    await recordBucket(db, identity);
  } catch (error) {
    log.warn({ bucket: config.INLET_S3_BUCKET, reason: reasonOf(error) }, 'cannot record the shared bucket');
  } finally {
    s3.destroy();
  }
}

/** The settings of the shared bucket for uploads. */
export function publicBucketOf(config: Config): PublicBucket {
  return {
    publicEndpoint: config.INLET_S3_PUBLIC_ENDPOINT ?? config.INLET_S3_ENDPOINT ?? null,
    region: config.INLET_S3_REGION,
    bucket: config.INLET_S3_BUCKET,
  };
}

/** The origin from which browsers upload files, or null if there is no console. */
export function consoleOriginOf({ INLET_CONSOLE_URL: url }: Config): string | null {
  return url === undefined ? null : new URL(url).origin;
}

/**
 * The owner of the shared bucket, for requests to the gateway's own API. Null on AWS, or if there are no static keys.
 */
export function bucketOwnerOf(config: Config): BucketOwner | null {
  const keys = sharedBucketKeys(config);
  if (config.INLET_S3_ENDPOINT === undefined || keys === null) return null;
  return {
    endpoint: config.INLET_S3_ENDPOINT,
    region: config.INLET_S3_REGION,
    ...keys,
    bucket: config.INLET_S3_BUCKET,
  };
}

/** The URL to which the storage sends notifications, including the token. Null if it sends none. */
export function notificationUrlOf(config: Config): Secret | null {
  const [token] = notificationTokens(config.INLET_SEALING_KEYS);
  if (config.INLET_NOTIFICATIONS_URL === undefined || !token) return null;
  return new Secret(config.INLET_NOTIFICATIONS_URL.replace(/\/$/, '') + notificationsPath + token.reveal());
}

/** Turns the bucket's notifications on, or turns them off if there is no URL. A failure is only reported. */
export async function prepareNotifications(config: Config, log: Log): Promise<void> {
  const owner = bucketOwnerOf(config);
  if (!owner) return;
  const url = notificationUrlOf(config);
  const s3 = connectSharedStorage(config);
  try {
    if (url) await ensureBucketNotifications(s3, owner, url);
    else await removeBucketNotifications(s3, owner);
  } catch (error) {
    const what = `cannot ${url ? 'set' : 'remove'} the notifications of the bucket`;
    log.warn({ bucket: owner.bucket, reason: reasonOf(error) }, what);
  } finally {
    s3.destroy();
  }
}

/** Lets browsers upload to the bucket, and removes abandoned uploads. A failure is only reported. */
export async function prepareUploads(config: Config, log: Log): Promise<void> {
  const s3 = connectSharedStorage(config);
  try {
    await ensureUploadRules(s3, config.INLET_S3_BUCKET, consoleOriginOf(config));
  } catch (error) {
    log.warn({ bucket: config.INLET_S3_BUCKET, reason: reasonOf(error) }, 'cannot set the rules for uploads');
  } finally {
    s3.destroy();
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

/** Throws `bucket_mismatch` if the bucket is not the recorded one. Without a record, every bucket is accepted. */
export async function requireRecordedBucket(db: Database, s3: S3Client, bucket: string): Promise<void> {
  const recorded = await readRecordedBucket(db);
  if (recorded === null) return;
  const found = await readBucketIdentity(s3, bucket);
  if (found === recorded) return;
  const what = found === null ? 'has no ID' : `has the ID ${found}`;
  throw new Failure('bucket_mismatch', `Bucket "${bucket}" ${what}, but ${recorded} is recorded.`);
}

/** Checks the bucket at most once per interval. After a mismatch, every call checks it again. */
export function bucketGuard(db: Database, s3: S3Client, bucket: string, intervalMs: number): () => Promise<void> {
  let checkedAt: number | null = null;
  return async () => {
    if (checkedAt !== null && performance.now() - checkedAt < intervalMs) return;
    await requireRecordedBucket(db, s3, bucket);
    checkedAt = performance.now();
  };
}
