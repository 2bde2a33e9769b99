import { z } from 'zod';
import { maxOverlapAudiences } from '../../../domain/composition/overlap.ts';
import type { StoredOverlap } from '../../../ports/report-store.ts';
import { type OverlapDeps, getOverlap as compute } from '../../../usecases/report/get-overlap.ts';
import { scopeOf } from '../authentication.ts';
import { invalidRequest } from '../documentation.ts';
import { defineRoute } from '../operation.ts';

const body = z
  .strictObject({
    audience_ids: z
      .array(z.int().positive())
      .min(2)
      .max(maxOverlapAudiences)
      .refine((ids) => new Set(ids).size === ids.length, 'audience_ids must not contain an ID twice.')
      .meta({ description: 'The audiences to compare.', uniqueItems: true }),
  })
  .meta({ id: 'OverlapRequest' });

const audienceIds = z.array(z.int()).max(maxOverlapAudiences);

export const overlapSchema = z
  .object({
    audiences: z
      .array(
        z.object({
          audience_id: z.int(),
          devices: z.int().meta({ description: 'Devices of the audience.' }),
        }),
      )
      .max(maxOverlapAudiences),
    intersections: z
      .array(
        z.object({
          audience_ids: audienceIds,
          devices: z.int().nullable().meta({
            description:
              'Devices that are in all of these audiences. Null if the count is hidden because the group is small.',
          }),
          small: z.boolean().meta({ description: 'True if the group is too small for reliable conclusions.' }),
        }),
      )
      .max(45)
      .meta({
        description: 'All intersections of up to five audiences, or the pairs of six or more. Pairs come first.',
      }),
    reach: z.int().meta({ description: 'Devices that are in at least one of the audiences.' }),
    protected: z.boolean().meta({
      description: 'If true, noise is added to counts, counts are rounded down, and small groups are hidden.',
    }),
    computed_at: z.iso.datetime(),
  })
  .meta({ id: 'Overlap' });

export const getOverlap = defineRoute({
  id: 'getOverlap',
  tag: 'audiences',
  method: 'POST',
  path: '/v2/firstparty/overlap',
  isRead: true,
  scope: 'audience:read',
  summary: 'Get the overlap of audiences',
  description:
    'Counts the devices that 2 to 10 of your audiences have in common, and the devices in at least one of them. The counts include devices that are not in the warehouse. They are protected like the counts in a composition report. Sending the same request again returns the same numbers until an audience is loaded or cleared. A new overlap spends part of the privacy budget.',
  body,
  bodyExamples: { pair: { summary: 'Two audiences', value: { audience_ids: [1, 2] } } },
  response: {
    status: 200,
    description: 'The overlap.',
    schema: overlapSchema,
    example: {
      audiences: [
        { audience_id: 1, devices: 250000 },
        { audience_id: 2, devices: 100000 },
      ],
      intersections: [{ audience_ids: [1, 2], devices: 40000, small: false }],
      reach: 310000,
      protected: true,
      computed_at: '2026-11-15T01:14:02.310Z',
    },
  },
  problems: {
    not_found: { detail: 'Audience 2 does not exist.' },
    ...invalidRequest({ pointer: '/audience_ids', detail: 'audience_ids must not contain an ID twice.' }),
    report_limit_reached: {
      detail: 'The privacy budget is spent. A new report is possible at 2026-12-01T08:30:00.000Z.',
    },
    report_not_ready: { detail: 'The device index does not contain all of these audiences yet.' },
    topology_mismatch: { detail: 'The shards differ from the recorded topology.' },
  },
  handler: (deps: { readonly overlap: OverlapDeps }) => async (request) =>
    overlapRecord(await compute(deps.overlap, scopeOf(request), request.body.audience_ids)),
});

function overlapRecord({ overlap, computedAt }: StoredOverlap): z.infer<typeof overlapSchema> {
  return {
    audiences: overlap.audiences.map(({ audienceId, devices }) => ({ audience_id: audienceId, devices })),
    intersections: overlap.intersections.map(({ audienceIds: ids, devices, small }) => ({
      audience_ids: [...ids],
      devices,
      small,
    })),
    reach: overlap.reach,
    protected: overlap.isProtected,
    computed_at: computedAt.toISOString(),
  };
}
