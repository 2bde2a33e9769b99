import { z } from 'zod';
import { disabledReasons, eventTypes } from '../../../domain/event.ts';
import {
  type Delivery,
  type Webhook,
  attemptErrors,
  deliveryStatuses,
  maxDescriptionLength,
  maxUrlLength,
  rotationHours,
  selectableTypes,
  webhookStatus,
} from '../../../domain/webhook.ts';
import { disablesAt } from '../../../domain/webhook-schedule.ts';
import { pathId, timestamp } from '../schemas.ts';

export const webhookParams = z.object({ webhook_id: pathId('ID of the webhook.', 1) });

export const webhookNotFound = { not_found: { detail: 'Webhook 1 does not exist.' } } as const;

const urlField = z
  .string()
  .min(1)
  .max(maxUrlLength)
  .meta({ description: 'Where events are sent. It must start with `https://` and have a public address.' });
const descriptionField = z
  .string()
  .max(maxDescriptionLength)
  .regex(/^\P{Cc}*$/u, 'description must not contain control characters.')
  .meta({ description: 'A note for yourself.' });
const typesField = z.array(z.enum(selectableTypes)).min(1).max(selectableTypes.length).nullable().meta({
  description: 'The types of events that are sent. Null for all types, including types that later releases add.',
});

export const createWebhookBody = z
  .strictObject({
    url: urlField,
    description: descriptionField.default(''),
    event_types: typesField.default(null),
  })
  .meta({ id: 'CreateWebhook' });

export const updateWebhookBody = z
  .strictObject({
    url: urlField.optional(),
    description: descriptionField.optional(),
    event_types: typesField.optional(),
    enabled: z
      .boolean()
      .optional()
      .meta({ description: '`true` enables a disabled webhook. It then gets all events that it has missed.' }),
  })
  .meta({ id: 'UpdateWebhook' });

export const replayBody = z
  .strictObject({
    sequence: z.int().min(1).optional().meta({ description: 'Sends this event again.' }),
    after: z.int().min(0).optional().meta({ description: 'Sends all events after this sequence number again.' }),
  })
  .refine(({ sequence, after }) => (sequence === undefined) !== (after === undefined), {
    error: 'Send either `sequence` or `after`.',
  })
  .meta({ id: 'ReplayEvents' });

export const webhookSchema = z
  .object({
    webhook_id: z.int(),
    url: z.string(),
    description: z.string(),
    event_types: z.array(z.string()).nullable(),
    status: z.enum(['enabled', 'failing', 'disabled']).meta({
      description: '`failing` if the last attempts have failed. A disabled webhook gets no events.',
    }),
    pending_events: z.int().meta({
      description: 'Maximum number of events that have not been delivered yet. The actual number can be lower.',
    }),
    failing_since: timestamp.nullable(),
    disables_at: timestamp
      .nullable()
      .meta({ description: 'When a failing webhook will be disabled if nothing is delivered by then.' }),
    paused_until: timestamp
      .nullable()
      .meta({ description: 'When the next event is sent to a failing or throttling receiver.' }),
    disabled_at: timestamp.nullable(),
    disabled_reason: z.enum(disabledReasons).nullable().meta({
      description:
        '`request`: you disabled it. `gone`: the receiver responded with 410. `failures`: it failed for 5 days.',
    }),
    old_secrets_expire_at: timestamp.nullable().meta({
      description: `For ${rotationHours} hours after a rotation, events are also signed with the old secret.`,
    }),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'Webhook' });

export type WebhookRecord = z.input<typeof webhookSchema>;

const text = (time: Date | null): string | null => time?.toISOString() ?? null;

export function webhookRecord(webhook: Webhook, scale: number): WebhookRecord {
  const { failingSince, disabledAt } = webhook;
  return {
    webhook_id: webhook.id,
    url: webhook.url,
    description: webhook.description,
    event_types: webhook.eventTypes && [...webhook.eventTypes],
    status: webhookStatus(webhook),
    pending_events: webhook.pendingEvents,
    failing_since: text(failingSince),
    disables_at: failingSince && !disabledAt ? text(disablesAt(failingSince, scale)) : null,
    paused_until: text(webhook.pausedUntil),
    disabled_at: text(disabledAt),
    disabled_reason: webhook.disabledReason,
    old_secrets_expire_at: text(webhook.oldSecretsExpireAt),
    created_at: webhook.createdAt.toISOString(),
    updated_at: webhook.updatedAt.toISOString(),
  };
}

export const webhookExample: WebhookRecord = {
  webhook_id: 1,
  url: 'https://example.com/hooks/inlet',
  description: 'Production',
  event_types: null,
  status: 'enabled',
  pending_events: 0,
  failing_since: null,
  disables_at: null,
  paused_until: null,
  disabled_at: null,
  disabled_reason: null,
  old_secrets_expire_at: null,
  created_at: '2026-11-18T09:00:00.000Z',
  updated_at: '2026-11-18T09:00:00.000Z',
};

const secretField = z.string().meta({ description: 'The secret with which events are signed. It is shown only once.' });

export const webhookSecretSchema = z.object({ secret: secretField }).meta({ id: 'WebhookSecret' });
export const createdWebhookSchema = z
  .object({ webhook_id: z.int(), secret: secretField })
  .meta({ id: 'CreatedWebhook' });

export const secretExample = 'whsec_<BASE64>';

export const deliverySchema = z
  .object({
    sequence: z.int().meta({ description: 'The event.' }),
    event_type: z.string(),
    status: z.enum(deliveryStatuses).meta({
      description: '`pending` until the next attempt, `delivered`, or `failed` after the last attempt.',
    }),
    is_replay: z.boolean().meta({ description: 'Whether the last attempt was requested with a replay.' }),
    next_attempt_at: timestamp.nullable(),
    delivered_at: timestamp.nullable(),
    created_at: timestamp,
    attempts: z
      .array(
        z.object({
          at: timestamp,
          milliseconds: z.int(),
          status: z.int().nullable().meta({ description: 'HTTP status of the response, or null without a response.' }),
          error: z.enum(attemptErrors).nullable().meta({
            description:
              'Why there was no response: it took too long, the address is not public, or the connection failed.',
          }),
        }),
      )
      .meta({ description: 'The last 20 attempts, oldest first.' }),
  })
  .meta({ id: 'WebhookDelivery' });

export const deliveryListSchema = z.array(deliverySchema);

export const deliveryExample: z.input<typeof deliverySchema> = {
  sequence: 42,
  event_type: eventTypes[0],
  status: 'pending',
  is_replay: false,
  next_attempt_at: '2026-11-18T09:05:06.000Z',
  delivered_at: null,
  created_at: '2026-11-18T09:00:00.000Z',
  attempts: [{ at: '2026-11-18T09:00:00.000Z', milliseconds: 31, status: 500, error: null }],
};

export function deliveryRecord(delivery: Delivery): z.input<typeof deliverySchema> {
  return {
    sequence: delivery.sequence,
    event_type: delivery.eventType,
    status: delivery.status,
    is_replay: delivery.isReplay,
    next_attempt_at: text(delivery.nextAttemptAt),
    delivered_at: text(delivery.deliveredAt),
    created_at: delivery.createdAt.toISOString(),
    attempts: delivery.attempts.map(({ at, milliseconds, status, error }) => ({
      at: at.toISOString(),
      milliseconds: Math.round(milliseconds),
      status,
      error,
    })),
  };
}
