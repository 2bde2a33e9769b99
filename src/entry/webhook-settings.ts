import { z } from 'zod';
import { parseNetwork } from '../domain/network-address.ts';
import type { WebhookAddresses } from '../domain/webhook.ts';
import type { DeliverySettings } from '../usecases/webhook/deliver-events.ts';
import { count, networks } from './setting-types.ts';

export const webhookSettings = {
  INLET_WEBHOOK_HTTP: z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true')
    .describe('`true` allows webhooks with `http://` URLs. For development only.'),
  INLET_WEBHOOK_NETWORKS: networks
    .optional()
    .describe(
      'Comma-separated private networks in which webhooks are allowed, for example `10.1.2.0/24`. By default, workers send events only to public addresses.',
    ),
  INLET_WEBHOOK_TIMEOUT_SECONDS: count(15).describe(
    'Time, in seconds, within which the receiver of a webhook must respond.',
  ),
  INLET_WEBHOOK_TIME_SCALE: z.coerce
    .number()
    .gt(0)
    .max(1)
    .default(1)
    .describe('For tests only: multiplies the delays between delivery attempts.'),
  INLET_WEBHOOK_CONCURRENCY: count(32).describe(
    'Number of webhooks to which one worker process sends events concurrently. A quarter of this number, at least one, is also the limit for webhooks that are failing or whose receivers respond slowly.',
  ),
};

type WebhookConfig = z.infer<z.ZodObject<typeof webhookSettings>>;

export function webhookAddressesOf(config: WebhookConfig): WebhookAddresses {
  return {
    allowsHttp: config.INLET_WEBHOOK_HTTP,
    networks: (config.INLET_WEBHOOK_NETWORKS ?? []).flatMap((text) => parseNetwork(text) ?? []),
  };
}

export function deliverySettingsOf(config: WebhookConfig): DeliverySettings {
  return {
    scale: config.INLET_WEBHOOK_TIME_SCALE,
    timeoutSeconds: config.INLET_WEBHOOK_TIMEOUT_SECONDS,
    maxWebhooks: config.INLET_WEBHOOK_CONCURRENCY,
  };
}
