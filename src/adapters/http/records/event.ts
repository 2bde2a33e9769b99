import { z } from 'zod';
import { splits } from '../../../domain/composition/counts.ts';
import { disabledReasons } from '../../../domain/event.ts';
import { timestamp } from '../schemas.ts';

const common = {
  id: z.string().meta({ description: 'Unique ID of the event, also sent as the header `webhook-id`.' }),
  sequence: z
    .int()
    .meta({ description: 'Position in your event log. If you can see all events, it starts at 1 and has no gaps.' }),
  created_at: timestamp,
  customer: z
    .string()
    .nullable()
    .meta({ description: 'The customer that the event concerns, or null for the account itself.' }),
  link: z.string().meta({ description: 'Path of the record that the event concerns.' }),
};

const importLogId = z.int().meta({ description: 'The import or delete.' });
const totalRows = z.int().meta({ description: 'Rows that were read, or rows that were deleted.' });
const code = z.string().nullable().meta({ description: 'Why it failed, or null. See docs/errors.md.' });
const ended = z.literal([2, 3]).meta({ description: '2 done, 3 error.' });
const ofAudience = {
  audience_id: z.int(),
  default_warehouse_segment_id: z
    .int()
    .meta({ description: 'The ID that identifies the audience in requests for reports.' }),
};

const importEvent = z
  .object({
    ...common,
    type: z.literal(['import.finished', 'import.failed']),
    data: z.object({
      import_log_id: importLogId,
      total_rows: totalRows,
      files: z.int().meta({ description: 'Files of the import.' }),
      failed_files: z.int().meta({ description: 'Files that were not loaded.' }),
      code,
    }),
  })
  .meta({ id: 'ImportEvent', description: 'An import has ended.' });

const deleteEvent = z
  .object({
    ...common,
    type: z.literal(['delete.finished', 'delete.failed']),
    data: z.object({ import_log_id: importLogId, total_rows: totalRows, code }),
  })
  .meta({ id: 'DeleteEvent', description: 'A delete has ended.' });

const rejectedRows = z.int().meta({ description: 'Rejected rows in the exported files.' });
const fileId = z.string().meta({ description: "The entry's `file_id` in the audience's file list." });

const importRejectsEvent = z
  .object({
    ...common,
    type: z.literal(['import.rejects.finished', 'import.rejects.failed']),
    data: z.object({
      import_log_id: importLogId,
      rows: rejectedRows,
      files: z.int().meta({ description: 'Files with rejected rows.' }),
      failed_files: z.int().meta({ description: 'Files that were not exported.' }),
      code,
    }),
  })
  .meta({ id: 'ImportRejectsEvent', description: 'An export of the rejected rows of an import has ended.' });

const audienceRejectsEvent = z
  .object({
    ...common,
    type: z.literal(['audience.rejects.finished', 'audience.rejects.failed']),
    data: z.object({ ...ofAudience, file_id: fileId, rows: rejectedRows, code }),
  })
  .meta({
    id: 'AudienceRejectsEvent',
    description: 'An export of the rejected rows of an audience file has ended.',
  });

const audienceFileEvent = z
  .object({
    ...common,
    type: z.literal('audience.file.finished'),
    data: z.object({
      ...ofAudience,
      file_id: fileId,
      s3_path: z.string().meta({ description: "Object key, including the partner's prefix." }),
      status: ended,
      total_rows: totalRows,
      code,
    }),
  })
  .meta({ id: 'AudienceFileEvent', description: 'An audience file has been loaded or has failed.' });

const audienceReadyEvent = z
  .object({
    ...common,
    type: z.literal('audience.ready'),
    data: z.object({
      ...ofAudience,
      status: ended.meta({ description: '2 if all files are loaded, and 3 if a file has failed.' }),
    }),
  })
  .meta({
    id: 'AudienceReadyEvent',
    description:
      'All files that were appended to an audience have been loaded or have failed, or its failed files were dismissed.',
  });

const audienceClearedEvent = z
  .object({ ...common, type: z.literal(['audience.cleared', 'audience.deleted']), data: z.object(ofAudience) })
  .meta({
    id: 'AudienceClearedEvent',
    description: 'An audience was cleared or deleted. Its files in progress have ended without separate events.',
  });

const reportEvent = z
  .object({
    ...common,
    type: z.literal('report.ready'),
    data: z.object({
      ...ofAudience,
      split: z
        .enum(splits)
        .nullable()
        .meta({ description: 'How the report is split, or null for a report without a split.' }),
    }),
  })
  .meta({ id: 'ReportEvent', description: 'A new composition report is available.' });

const subscriptionEvent = z
  .object({
    ...common,
    type: z.literal('subscription.too_many_objects'),
    data: z.object({ subscription_id: z.int().meta({ description: 'The subscription.' }) }),
  })
  .meta({
    id: 'SubscriptionEvent',
    description:
      'The prefix of a subscription has more objects than Inlet lists. The last ones in key order are not imported.',
  });

const webhookId = z.int().meta({ description: 'The webhook.' });

const webhookEvent = z
  .object({
    ...common,
    type: z.literal(['webhook.test', 'webhook.failing']),
    data: z.object({ webhook_id: webhookId }),
  })
  .meta({ id: 'WebhookEvent', description: 'A test of a webhook, or a warning that it will be disabled.' });

const webhookDisabledEvent = z
  .object({
    ...common,
    type: z.literal('webhook.disabled'),
    data: z.object({ webhook_id: webhookId, reason: z.enum(disabledReasons) }),
  })
  .meta({ id: 'WebhookDisabledEvent', description: 'A webhook was disabled.' });

export const eventSchema = z
  .union([
    importEvent,
    importRejectsEvent,
    deleteEvent,
    audienceFileEvent,
    audienceReadyEvent,
    audienceClearedEvent,
    audienceRejectsEvent,
    reportEvent,
    subscriptionEvent,
    webhookEvent,
    webhookDisabledEvent,
  ])
  .meta({ id: 'Event', description: 'What happened. Ignore types that you do not know.' });

export const eventExample = {
  id: 'evt_0198c1f2a5d97c3e8f6b4a2d1e0c9b87',
  sequence: 42,
  type: 'import.finished',
  created_at: '2026-11-15T09:30:00.000Z',
  customer: null,
  link: '/v1/marketplace/import/1',
  data: { import_log_id: 1, total_rows: 3, files: 1, failed_files: 0, code: null },
} as const satisfies z.input<typeof eventSchema>;
