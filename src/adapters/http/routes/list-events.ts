import { z } from 'zod';
import { splits } from '../../../domain/composition/counts.ts';
import { type LoggedEvent, eventDays } from '../../../domain/composition/event.ts';
import type { EventLog } from '../../../ports/event-log.ts';
import { scopeOf } from '../authentication.ts';
import { invalidQuery } from '../documentation.ts';
import { defineRoute } from '../operation.ts';
import { queryNumber, timestamp } from '../schemas.ts';

const maxEvents = 1000;

const eventSchema = z
  .object({
    sequence: z
      .int()
      .meta({ description: 'Position in your event log. Without a user token, it starts at 1 and has no gaps.' }),
    type: z.literal('report.ready').meta({ description: 'What happened. Ignore types that you do not know.' }),
    created_at: timestamp,
    customer: z
      .string()
      .nullable()
      .meta({ description: 'The customer that the event concerns, or null for your own audiences.' }),
    data: z.object({
      audience_id: z.int(),
      default_warehouse_segment_id: z.int().meta({ description: 'The ID with which the report is read.' }),
      split: z
        .enum(splits)
        .nullable()
        .meta({ description: 'How the report is split, or null for a report without a split.' }),
    }),
  })
  .meta({ id: 'Event' });

export const eventListSchema = z.array(eventSchema).max(maxEvents);

const sequenceError = 'after must be a whole number from 0 to 999,999,999,999,999.';

export const listEvents = defineRoute({
  id: 'listEvents',
  tag: 'events',
  method: 'GET',
  path: '/v1/events',
  scope: 'audience:read',
  summary: 'List events',
  description: `Lists what has happened since an event that you know, oldest first. To continue, pass the last \`sequence\` as \`after\`. \`report.ready\` means that a new composition report can be read. Without a user token, also lists the events of all your customers. Events are deleted after ${eventDays} days.`,
  query: z.strictObject({
    after: z.coerce
      .number({ error: sequenceError })
      .int({ error: sequenceError })
      .min(0, { error: sequenceError })
      .max(999_999_999_999_999, { error: sequenceError })
      .default(0)
      .meta({ description: 'The `sequence` of the last event that you know.', examples: [41] }),
    limit: queryNumber('limit', maxEvents)
      .default(100)
      .meta({ description: 'Maximum number of events.', examples: [50] }),
  }),
  response: {
    status: 200,
    description: 'The next events. The list is empty if there are none.',
    schema: eventListSchema,
    example: [
      {
        sequence: 42,
        type: 'report.ready',
        created_at: '2026-11-15T09:30:00.000Z',
        customer: null,
        data: { audience_id: 3, default_warehouse_segment_id: 100003, split: null },
      },
    ],
  },
  problems: invalidQuery('after', sequenceError),
  handler: (deps: { readonly events: EventLog }) => async (request) => {
    const { after, limit } = request.query;
    return (await deps.events.list(scopeOf(request), { after, limit })).map(eventRecord);
  },
});

function eventRecord({ sequence, type, createdAt, customer, data }: LoggedEvent): z.input<typeof eventSchema> {
  return {
    sequence,
    type,
    created_at: createdAt.toISOString(),
    customer,
    data: {
      audience_id: data.audienceId,
      default_warehouse_segment_id: data.warehouseSegmentId,
      split: data.split,
    },
  };
}
