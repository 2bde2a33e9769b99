import { z } from 'zod';
import {
  type Subscription,
  type SubscriptionObject,
  type Trigger,
  maxIntervalSeconds,
  maxMarkerLength,
  maxQuietPeriods,
  maxQuietSeconds,
  minIntervalSeconds,
  minuteOfDay,
  objectStates,
  timeOfMinute,
  waitReasons,
} from '../../../domain/subscription.ts';
import { keyType, pathId, timestamp } from '../schemas.ts';

export const subscriptionParams = z.object({ subscription_id: pathId('ID of the subscription.', 1) });

export const subscriptionNotFound = { not_found: { detail: 'Subscription 1 does not exist.' } } as const;

const seconds = (min: number, max: number) => z.int().min(min).max(max);
const quietField = seconds(0, maxQuietSeconds).meta({
  description: `When nothing has changed under the prefix for this long, imports the objects that have arrived. With 0, imports them as soon as they are seen. An object waits at most ${maxQuietPeriods} times as long.`,
});
const markerField = z
  .string()
  .min(1)
  .max(maxMarkerLength)
  .regex(/^[^/\p{Cc}\p{Cs}]+$/u, 'marker must be a file name without "/" or control characters.')
  .refine((name) => name !== '.' && name !== '..', 'marker must not be "." or "..".')
  .meta({
    description:
      'Imports the objects of a folder when an object with this name, for example `_SUCCESS`, is written after them into the folder or a folder above it.',
  });
const everyField = seconds(minIntervalSeconds, maxIntervalSeconds).meta({
  description: 'Imports the objects that have arrived at this interval.',
});
const dailyField = z
  .string()
  .refine((text) => minuteOfDay(text) !== null, 'daily_at must be a time such as 02:30.')
  .meta({ description: 'Once a day, at this time (UTC), imports the objects that have arrived.', examples: ['02:30'] });

const triggerField = z
  .strictObject({
    quiet_seconds: quietField.optional(),
    marker: markerField.optional(),
    every_seconds: everyField.optional(),
    daily_at: dailyField.optional(),
  })
  .refine((fields) => Object.values(fields).filter((value) => value !== undefined).length === 1, {
    error: 'Send exactly one of quiet_seconds, marker, every_seconds, and daily_at.',
  })
  .meta({ description: 'When the objects that have arrived are imported. Exactly one field is set.' });

const compressedField = z.boolean().meta({ description: 'Whether the files are gzipped.' });

export const createSubscriptionBody = z
  .strictObject({
    prefix: z.string().max(1200).meta({
      description:
        "Objects whose path starts with this text are imported. It is relative to the partner's prefix. A folder ends with `/`.",
    }),
    key_type: keyType,
    compressed: compressedField,
    existing: z.enum(['import', 'skip']).default('skip').meta({
      description: 'Whether the objects that exist when the subscription is created are imported.',
    }),
    trigger: triggerField.default({ quiet_seconds: 10 }),
  })
  .meta({ id: 'CreateSubscription' });

export const updateSubscriptionBody = z
  .strictObject({
    key_type: keyType.optional(),
    compressed: compressedField.optional(),
    trigger: triggerField.optional(),
    paused: z.boolean().optional().meta({
      description:
        '`true` stops new imports. Imports that are already queued still run. Objects that arrive in the meantime are imported after you set `false`.',
    }),
  })
  .meta({ id: 'UpdateSubscription' });

export function toTrigger(fields: z.output<typeof triggerField>): Trigger {
  if (fields.marker !== undefined) return { on: 'marker', name: fields.marker };
  if (fields.every_seconds !== undefined) return { on: 'interval', seconds: fields.every_seconds };
  if (fields.daily_at !== undefined) return { on: 'daily', minute: minuteOfDay(fields.daily_at) ?? 0 };
  return { on: 'quiet', seconds: fields.quiet_seconds ?? 0 };
}

export const createdSubscriptionSchema = z.object({ subscription_id: z.int() }).meta({ id: 'CreatedSubscription' });

export const subscriptionSchema = z
  .object({
    subscription_id: z.int(),
    prefix: z.string(),
    key_type: keyType,
    compressed: z.boolean(),
    existing: z.enum(['import', 'skip']),
    trigger: z
      .object({
        quiet_seconds: z.int().nullable(),
        marker: z.string().nullable(),
        every_seconds: z.int().nullable(),
        daily_at: z.string().nullable(),
      })
      .meta({ description: 'Exactly one field is not null.' }),
    status: z.enum(['active', 'paused']),
    waiting_objects: z.int().meta({ description: 'Objects that have arrived and are not part of an import yet.' }),
    waits_for: z.enum(waitReasons).nullable().meta({
      description:
        'Why they are not imported yet. `quiet`, `marker`, `schedule`: they are waiting for the trigger. `open_imports`: the limit on open jobs has been reached, or 10 imports of this subscription are open. `quota`: a quota for stored data has been reached. `too_many_objects`: the prefix has more objects than Inlet lists, so the last ones in key order are not seen.',
    }),
    next_import_at: timestamp.nullable().meta({ description: 'The next time of a schedule.' }),
    last_listed_at: timestamp.nullable().meta({ description: 'When Inlet last listed the whole prefix.' }),
    last_import_log_id: z.int().nullable().meta({ description: 'The last import that the subscription created.' }),
    paused_at: timestamp.nullable(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'Subscription' });

export const subscriptionListSchema = z.array(subscriptionSchema);

export type SubscriptionRecord = z.input<typeof subscriptionSchema>;

const text = (time: Date | null): string | null => time?.toISOString() ?? null;

export function subscriptionRecord(subscription: Subscription): SubscriptionRecord {
  const { trigger } = subscription;
  return {
    subscription_id: subscription.id,
    prefix: subscription.prefix,
    key_type: subscription.keyType,
    compressed: subscription.compressed,
    existing: subscription.skipsExisting ? 'skip' : 'import',
    trigger: {
      quiet_seconds: trigger.on === 'quiet' ? trigger.seconds : null,
      marker: trigger.on === 'marker' ? trigger.name : null,
      every_seconds: trigger.on === 'interval' ? trigger.seconds : null,
      daily_at: trigger.on === 'daily' ? timeOfMinute(trigger.minute) : null,
    },
    status: subscription.pausedAt ? 'paused' : 'active',
    waiting_objects: subscription.waitingObjects,
    waits_for: subscription.waitsFor,
    next_import_at: text(subscription.nextImportAt),
    last_listed_at: text(subscription.listedAt),
    last_import_log_id: subscription.lastImportLogId,
    paused_at: text(subscription.pausedAt),
    created_at: subscription.createdAt.toISOString(),
    updated_at: subscription.updatedAt.toISOString(),
  };
}

export const subscriptionExample: SubscriptionRecord = {
  subscription_id: 1,
  prefix: 'daily/',
  key_type: 1,
  compressed: true,
  existing: 'skip',
  trigger: { quiet_seconds: null, marker: '_SUCCESS', every_seconds: null, daily_at: null },
  status: 'active',
  waiting_objects: 3,
  waits_for: 'marker',
  next_import_at: null,
  last_listed_at: '2026-11-18T09:00:30.000Z',
  last_import_log_id: 12,
  paused_at: null,
  created_at: '2026-11-18T09:00:00.000Z',
  updated_at: '2026-11-18T09:00:00.000Z',
};

export const subscriptionObjectSchema = z
  .object({
    path: z.string().meta({ description: "Path relative to the partner's prefix." }),
    etag: z.string(),
    size: z.int(),
    state: z.enum(objectStates).meta({
      description:
        'What became of this version. `overwritten`, `deleted`: it was overwritten or deleted before it was loaded. `skipped`: it existed when the subscription was created. `marker`: it starts imports. A `failed` version is imported again only if you retry its import.',
    }),
    import_log_id: z.int().nullable().meta({ description: 'The import that loads or loaded it.' }),
    error_code: z.string().nullable().meta({ description: 'Why it failed. See docs/errors.md.' }),
    last_modified: timestamp.meta({ description: 'When the storage received it.' }),
    seen_at: timestamp.meta({ description: 'When a listing first contained it.' }),
    updated_at: timestamp,
  })
  .meta({ id: 'SubscriptionObject' });

export const subscriptionObjectListSchema = z.array(subscriptionObjectSchema);

export function subscriptionObjectRecord(object: SubscriptionObject): z.input<typeof subscriptionObjectSchema> {
  return {
    path: object.path,
    etag: object.etag,
    size: object.size,
    state: object.state,
    import_log_id: object.importLogId,
    error_code: object.errorCode,
    last_modified: object.lastModified.toISOString(),
    seen_at: object.seenAt.toISOString(),
    updated_at: object.updatedAt.toISOString(),
  };
}

export const subscriptionObjectExample: z.input<typeof subscriptionObjectSchema> = {
  path: 'daily/2026-11-18/part-0.csv.gz',
  etag: '"5d41402abc4b2a76b9719d911017c592"',
  size: 113,
  state: 'imported',
  import_log_id: 12,
  error_code: null,
  last_modified: '2026-11-18T09:00:00.000Z',
  seen_at: '2026-11-18T09:00:01.000Z',
  updated_at: '2026-11-18T09:00:04.000Z',
};
