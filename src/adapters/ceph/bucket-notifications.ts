import {
  type Event,
  GetBucketNotificationConfigurationCommand,
  PutBucketNotificationConfigurationCommand,
  type S3Client,
  S3ServiceException,
  type TopicConfiguration,
} from '@aws-sdk/client-s3';
import type { Secret } from '../../domain/secret.ts';
import { type CephAdmin, sendSigned } from './signed-request.ts';
import { requireSuccess } from './storage-user.ts';

/** The owner of the bucket. */
export type BucketOwner = CephAdmin & { readonly bucket: string };

const configurationId = 'inlet-new-objects';
const created: Event = 's3:ObjectCreated:*';

/**
 * Creates the topic, and adds it to the notifications of the bucket. Keeps other notifications. The gateway queues the
 * notifications of a persistent topic, so that uploads do not wait for a receiver that is down or hangs.
 */
export async function ensureBucketNotifications(client: S3Client, owner: BucketOwner, endpoint: Secret): Promise<void> {
  const form = new URLSearchParams({
    Action: 'CreateTopic',
    Name: topicOf(owner.bucket),
    'Attributes.entry.1.key': 'push-endpoint',
    'Attributes.entry.1.value': endpoint.reveal(),
    'Attributes.entry.2.key': 'persistent',
    'Attributes.entry.2.value': 'true',
  });
  const answer = await sendSigned(owner, { method: 'POST', path: '/', query: {}, form: form.toString() });
  requireSuccess(answer, 'create the topic of the notifications');
  const topicArn = /<TopicArn>([^<]+)<\/TopicArn>/.exec(answer.text)?.[1];
  if (topicArn === undefined) throw new Error('the storage returned no ARN for the topic of the notifications');
  const before = await readTopics(client, owner.bucket);
  if (before.some((one) => one.Id === configurationId && one.TopicArn === topicArn)) return;
  const others = before.filter(({ Id: id }) => id !== configurationId);
  const topics: TopicConfiguration[] = [...others, { Id: configurationId, TopicArn: topicArn, Events: [created] }];
  const configuration = { Bucket: owner.bucket, NotificationConfiguration: { TopicConfigurations: topics } };
  await client.send(new PutBucketNotificationConfigurationCommand(configuration));
}

/** Returns what is wrong, or null. Does not show the address, because it contains the token. */
export async function findMissingNotifications(
  client: S3Client,
  owner: BucketOwner,
  endpoint: Secret,
): Promise<string | null> {
  const topics = await readTopics(client, owner.bucket);
  const own = topics.find(({ Id: id }) => id === configurationId);
  if (!own?.TopicArn) return `the bucket does not have the notification ${configurationId}`;
  const query = { Action: 'GetTopic', TopicArn: own.TopicArn };
  const answer = await sendSigned(owner, { method: 'POST', path: '/', query });
  if (answer.status === 404) return `the topic ${own.TopicArn} does not exist, so the storage rejects every upload`;
  requireSuccess(answer, 'read the topic of the notifications');
  const address = /<EndpointAddress>([^<]*)<\/EndpointAddress>/.exec(answer.text)?.[1];
  return address === endpoint.reveal() ? null : `the topic ${own.TopicArn} has a different address or token`;
}

/** Returns what is wrong if the storage should send no notifications, or null. */
export async function findRemainingNotifications(client: S3Client, { bucket }: BucketOwner): Promise<string | null> {
  const topics = await readTopics(client, bucket);
  return topics.some(({ Id: id }) => id === configurationId)
    ? `the bucket still has the notification ${configurationId}, so the storage rejects uploads when its queue is full`
    : null;
}

/**
 * Removes the notifications first. While a bucket refers to a topic that does not exist, the gateway rejects every
 * upload. The gateway rejects an empty configuration, so this uses a request that is specific to Ceph.
 */
export async function removeBucketNotifications(client: S3Client, owner: BucketOwner): Promise<void> {
  const topics = await readTopics(client, owner.bucket);
  const own = topics.find(({ Id: id }) => id === configurationId);
  if (!own?.TopicArn) return;
  const request = { method: 'DELETE', path: `/${owner.bucket}`, query: { notification: configurationId } } as const;
  requireSuccess(await sendSigned(owner, request), 'remove the notifications of the bucket');
  const form = new URLSearchParams({ Action: 'DeleteTopic', TopicArn: own.TopicArn }).toString();
  requireSuccess(await sendSigned(owner, { method: 'POST', path: '/', query: {}, form }), 'delete the topic');
}

function topicOf(bucket: string): string {
  return `inlet-${bucket}`;
}

async function readTopics(client: S3Client, bucket: string): Promise<TopicConfiguration[]> {
  try {
    const found = await client.send(new GetBucketNotificationConfigurationCommand({ Bucket: bucket }));
    return found.TopicConfigurations ?? [];
  } catch (error) {
    // If the storage does not implement notifications, the bucket has none.
    if (error instanceof S3ServiceException && error.$metadata.httpStatusCode === 501) return [];
    throw error;
  }
}
