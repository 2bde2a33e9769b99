import { z } from 'zod';
import type { SubscriptionSettings } from '../usecases/subscription/list-arrivals.ts';
import { count } from './setting-types.ts';

export const subscriptionSettings = {
  INLET_SUBSCRIPTION_SECONDS: count(30).describe(
    "Maximum time, in seconds, between two listings of an active subscription's prefix. Notifications from the storage start a listing earlier.",
  ),
  INLET_SUBSCRIPTION_OBJECTS: count(100_000).describe(
    "Maximum number of objects that a listing of a subscription's prefix reads. The objects after them, in key order, are not imported.",
  ),
  INLET_NOTIFICATIONS_PORT: z.coerce
    .number()
    .int()
    .min(0)
    .max(65_535)
    .optional()
    .describe(
      'Port on which a worker receives notifications of new objects. 0 selects a free port. If it is not set, the worker receives none. Only the storage should be able to reach it.',
    ),
  INLET_NOTIFICATIONS_HOST: z
    .string()
    .default('127.0.0.1')
    .describe('Address on which a worker receives notifications of new objects.'),
  INLET_NOTIFICATIONS_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(
      'URL at which the storage reaches `INLET_NOTIFICATIONS_PORT` of the workers. With it, `inlet migrate` tells Ceph to send a notification for every new object in the shared bucket. On AWS, `inlet notification-url` prints the URL for Amazon EventBridge.',
    ),
};

type StorageOfNotifications = {
  readonly INLET_S3_ENDPOINT?: string | undefined;
  readonly INLET_S3_ACCESS_KEY_ID?: string | undefined;
};

/**
 * In Ceph, Inlet sets up notifications with the bucket owner's keys. On AWS, which has no endpoint here, the operator
 * sets up Amazon EventBridge, which sends only to HTTPS.
 */
export function findNotificationMistakes({
  INLET_NOTIFICATIONS_URL: url,
  INLET_S3_ENDPOINT: endpoint,
  INLET_S3_ACCESS_KEY_ID: accessKeyId,
}: SubscriptionConfig & StorageOfNotifications): { name: string; message: string }[] {
  if (url === undefined) return [];
  if (endpoint === undefined) {
    const message = 'must begin with https:// if INLET_S3_ENDPOINT is not set, because Amazon EventBridge requires it';
    return url.startsWith('https:') ? [] : [{ name: 'INLET_NOTIFICATIONS_URL', message }];
  }
  if (accessKeyId !== undefined) return [];
  return [{ name: 'INLET_S3_ACCESS_KEY_ID', message: 'is required, because INLET_NOTIFICATIONS_URL is set' }];
}

type SubscriptionConfig = z.infer<z.ZodObject<typeof subscriptionSettings>>;

export function subscribingOf(config: SubscriptionConfig): SubscriptionSettings {
  return { listSeconds: config.INLET_SUBSCRIPTION_SECONDS, maxObjects: config.INLET_SUBSCRIPTION_OBJECTS };
}
