import type { Logger } from 'pino';
import { receiveNotifications } from '../adapters/notifications/receiver.ts';
import { notificationTokens } from '../adapters/vault/keys.ts';
import type { ObjectNotifications, SubscriptionQueue } from '../ports/subscription-store.ts';
import type { Config } from './config.ts';
import type { Observability } from './observability/observability.ts';

type Deps = { readonly subscriptionQueue: SubscriptionQueue; readonly observability: Observability };

/** Receives notifications if a port is configured. */
export async function startNotifications(
  config: Config,
  { subscriptionQueue, observability }: Deps,
  log: Logger,
): Promise<ObjectNotifications | null> {
  const { INLET_NOTIFICATIONS_HOST: host, INLET_NOTIFICATIONS_PORT: port } = config;
  if (port === undefined) return null;
  return receiveNotifications({
    host,
    port,
    bucket: config.INLET_S3_BUCKET,
    tokens: notificationTokens(config.INLET_SEALING_KEYS),
    onKeys: (keys) => subscriptionQueue.wake(keys),
    record: observability.recordNotification,
    log,
  });
}
