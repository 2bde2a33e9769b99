import { z } from 'zod';
import { splits } from '../../../domain/composition/counts.ts';
import { maxReportEntries, orders } from '../../../domain/composition/protection.ts';
import {
  type Baseline,
  type Composition,
  type CompositionDeps,
  type CompositionEntry,
  getComposition as compute,
} from '../../../usecases/report/get-composition.ts';
import { scopeOf } from '../authentication.ts';
import { prefersCsv, sendCsv } from '../csv.ts';
import { invalidQuery } from '../documentation.ts';
import { defineRoute } from '../operation.ts';
import { linkNext, readCursor } from '../paging.ts';
import { pageCursor, pathId, queryNumber } from '../schemas.ts';

const split = z.enum(splits);

/** The number of entries if the caller sets no limit. */
const defaultEntries = 20;

const query = z
  .strictObject({
    split: split.optional().meta({
      description:
        'Breaks the report down by this field: returns one entry for each combination of attribute and value instead of one entry per attribute.',
      examples: ['event'],
    }),
    order: z
      .enum(orders)
      .default('devices')
      .meta({
        description: 'Sorts by number of devices or by index, largest first, or by index, smallest first.',
        examples: ['index'],
      }),
    limit: queryNumber('limit', maxReportEntries)
      .optional()
      .meta({
        description: `Maximum number of entries. Without a limit, JSON contains ${defaultEntries} entries, and CSV contains all.`,
        examples: [10],
      }),
    cursor: pageCursor,
    name: z
      .string()
      .min(1)
      .max(256)
      .optional()
      .meta({
        description: 'Returns only attributes whose name contains this text, in upper or lower case.',
        examples: ['sport'],
      }),
    small: z.enum(['include', 'omit']).default('include').meta({
      description: 'Whether to return groups that are too small for reliable conclusions, including hidden ones.',
    }),
    // This parameter has no example, because the examples of all parameters must be valid together.
    baseline_segment_id: queryNumber('baseline_segment_id', Number.MAX_SAFE_INTEGER).optional().meta({
      description:
        'Compares with another audience instead of the whole warehouse. The value is its `default_warehouse_segment_id`.',
    }),
    baseline_country: z
      .string()
      .regex(/^[A-Z]{2}$/, { error: 'baseline_country must be a two-letter country code in upper case.' })
      .optional()
      .meta({
        description:
          'Compares with the devices of one country instead of the whole warehouse. Not possible for a report that is split by country or ID type.',
        examples: ['DE'],
      }),
  })
  .refine((all) => all.baseline_segment_id === undefined || all.baseline_country === undefined, {
    error: 'Set baseline_segment_id or baseline_country, not both.',
    path: ['baseline_country'],
  })
  .refine((all) => all.baseline_country === undefined || all.split === undefined || all.split === 'event', {
    error: 'baseline_country cannot be combined with a split by country or ID type.',
    path: ['baseline_country'],
  });

const range = z.object({ low: z.number(), high: z.number() });

const compositionEntrySchema = z
  .object({
    attribute_id: z.int(),
    name: z.string(),
    provider: z.string().meta({
      description: 'The partner that provides the attribute. Attributes of several partners can have the same name.',
    }),
    value: z.string().optional().meta({ description: 'Value of the split field. Absent if the report is not split.' }),
    devices: z.int().nullable().meta({
      description: 'Matched devices with the attribute. Null if the count is hidden because the group is small.',
    }),
    devices_range: range.nullable().meta({
      id: 'DevicesRange',
      description: 'The exact count is in this range, which includes the noise and the rounding.',
    }),
    share: z.number().min(0).max(1).nullable().meta({ description: 'Share of the matched devices.' }),
    warehouse_devices: z.int().meta({ description: 'Devices with the attribute in the whole warehouse.' }),
    warehouse_share: z.number().min(0).max(1).nullable(),
    baseline_devices: z.int().nullable().optional().meta({
      description:
        'Devices with the attribute in the baseline. Null if the count is hidden or missing. Absent without a baseline.',
    }),
    baseline_share: z.number().min(0).max(1).nullable().optional(),
    index: z.number().nullable().meta({
      description:
        '`share` divided by `warehouse_share`, or by `baseline_share` if there is a baseline. 1 is average, and 2 is twice the average.',
    }),
    index_range: range.nullable().meta({
      id: 'IndexRange',
      description:
        'The exact index is in this range. If it contains 1, the difference may be noise. Null if it has no upper limit.',
    }),
    small: z.boolean().meta({ description: 'True if the group is too small for reliable conclusions.' }),
  })
  .meta({ id: 'CompositionEntry' });

export const compositionSchema = z
  .object({
    audience_id: z.int(),
    default_warehouse_segment_id: z.int(),
    matched_devices: z.int(),
    warehouse_devices: z.int(),
    split: split.nullable(),
    baseline: z
      .object({
        default_warehouse_segment_id: z.int().optional(),
        country: z.string().optional(),
        devices: z.int().meta({ description: 'Matched devices of the audience, or devices in the country.' }),
      })
      .nullable()
      .meta({ description: 'What the report is compared with. Null for the whole warehouse.' }),
    protected: z.boolean().meta({
      description: 'If true, noise is added to counts, counts are rounded down, and small groups are hidden.',
    }),
    computed_at: z.iso.datetime(),
    current: z.boolean().meta({
      description:
        'False if the audience or its baseline has changed since, and the privacy budget does not allow a new report.',
    }),
    next_report_at: z.iso.datetime().nullable().meta({
      description: 'When a new report is possible. Null unless the privacy budget is spent.',
    }),
    totals: z
      .object({
        entries: z.int(),
        small: z.int().meta({ description: 'Entries of groups that are too small, including hidden ones.' }),
        hidden: z.int().meta({ description: 'Entries whose counts are hidden.' }),
      })
      .meta({
        description:
          'Numbers of entries on all pages. If `name` is set, only matching entries are counted. Omitted small groups are included.',
      }),
    attributes: z.array(compositionEntrySchema).max(maxReportEntries),
  })
  .meta({ id: 'Composition' });

export type CompositionRecord = z.infer<typeof compositionSchema>;

export const getComposition = defineRoute({
  id: 'getComposition',
  tag: 'audiences',
  method: 'GET',
  path: '/v2/firstparty/segments/:default_warehouse_segment_id/composition',
  scope: 'audience:read',
  summary: 'Get the composition of an audience',
  description:
    'Returns a report on what the matched devices have in common. For each attribute, the report compares the number of matched devices with the whole warehouse. Noise is added to counts and small groups are hidden, unless the operator has disabled this protection. A worker computes the report. If that takes longer than the request timeout, the response is 503 `report_not_ready`, and the computation continues. Every new report spends part of the privacy budget. If the budget is spent, the response contains the last report of an earlier load. A baseline requires a second report, which is the report of the other audience or the report that is split by country. Pages can be from different reports if a report is computed in between; compare `computed_at`. Send `Accept: text/csv` for the entries as CSV.',
  params: z.object({
    default_warehouse_segment_id: pathId("The audience's `default_warehouse_segment_id`.", 500001),
  }),
  query,
  response: {
    status: 200,
    description: 'The report.',
    schema: compositionSchema,
    example: {
      audience_id: 1,
      default_warehouse_segment_id: 500001,
      matched_devices: 1000,
      warehouse_devices: 300000,
      split: 'event',
      baseline: null,
      protected: true,
      computed_at: '2026-11-15T01:14:02.310Z',
      current: true,
      next_report_at: null,
      totals: { entries: 1, small: 0, hidden: 0 },
      attributes: [
        {
          attribute_id: 1001,
          name: 'sports',
          provider: 'acme',
          value: 'click',
          devices: 500,
          devices_range: { low: 485, high: 539 },
          share: 0.5,
          warehouse_devices: 100000,
          warehouse_share: 0.333,
          index: 1.5,
          index_range: { low: 1.4, high: 1.64 },
          small: false,
        },
      ],
    },
    isPaged: true,
    csv: 'attribute_id,name,provider,value,devices,devices_low,devices_high,share,warehouse_devices,warehouse_share,baseline_devices,baseline_share,index,index_low,index_high,small\r\n1001,sports,acme,click,500,485,539,0.5,100000,0.333,,,1.5,1.4,1.64,false\r\n',
  },
  problems: {
    not_found: { detail: 'Segment 500001 does not exist.' },
    ...invalidQuery('split', 'split must be "id_type", "country", or "event".'),
    report_limit_reached: {
      detail: 'The privacy budget is spent. A new report is possible at 2026-12-01T08:30:00.000Z.',
    },
    report_not_ready: { detail: 'The report is still being computed.' },
    topology_mismatch: { detail: 'The shards differ from the recorded topology.' },
  },
  handler: (deps: { readonly composition: CompositionDeps }) => async (request, reply) => {
    const { default_warehouse_segment_id } = request.params;
    const {
      split: by = null,
      order,
      cursor,
      name = null,
      small,
      baseline_segment_id,
      baseline_country,
    } = request.query;
    const isCsv = prefersCsv(request.headers.accept);
    const [offset = 0] = readCursor(cursor, 'composition', 1);
    const limit = request.query.limit ?? (isCsv ? null : defaultEntries);
    const question = {
      split: by,
      order,
      offset,
      limit,
      name,
      omitsSmall: small === 'omit',
      baseline: baselineOf(baseline_segment_id, baseline_country),
    };
    const composition = await compute(deps.composition, scopeOf(request), default_warehouse_segment_id, question);
    const { entries, small: omitted } = composition.totals;
    const end = offset + composition.entries.length;
    if (limit !== null && end < entries - (question.omitsSmall ? omitted : 0))
      linkNext(request, reply, limit, { list: 'composition', position: [end] });
    if (isCsv) return sendCsv(reply, columns, composition.entries, csvRow);
    return { ...compositionRecord(composition, question.baseline), default_warehouse_segment_id, split: by };
  },
});

function baselineOf(warehouseSegmentId: number | undefined, country: string | undefined): Baseline | null {
  if (warehouseSegmentId !== undefined) return { warehouseSegmentId };
  return country === undefined ? null : { country };
}

function baselineRecord(baseline: Baseline, devices: number): CompositionRecord['baseline'] {
  return 'country' in baseline
    ? { country: baseline.country, devices }
    : { default_warehouse_segment_id: baseline.warehouseSegmentId, devices };
}

function compositionRecord(
  composition: Composition,
  baseline: Baseline | null,
): Omit<CompositionRecord, 'default_warehouse_segment_id' | 'split'> {
  return {
    audience_id: composition.audienceId,
    matched_devices: composition.matchedDevices,
    warehouse_devices: composition.warehouseDevices,
    baseline: baseline && baselineRecord(baseline, composition.baselineDevices ?? 0),
    protected: composition.isProtected,
    computed_at: composition.computedAt.toISOString(),
    current: composition.nextReportAt === null,
    next_report_at: composition.nextReportAt?.toISOString() ?? null,
    totals: composition.totals,
    attributes: composition.entries.map((entry) => ({
      attribute_id: entry.attributeId,
      name: entry.name,
      provider: entry.provider,
      ...(entry.value === null ? {} : { value: entry.value }),
      devices: entry.devices,
      devices_range: entry.deviceRange,
      share: entry.share,
      warehouse_devices: entry.warehouseDevices,
      warehouse_share: entry.warehouseShare,
      ...(baseline && { baseline_devices: entry.baselineDevices, baseline_share: entry.baselineShare }),
      index: entry.index,
      index_range: entry.indexRange,
      small: entry.small,
    })),
  };
}

const columns = [
  'attribute_id',
  'name',
  'provider',
  'value',
  'devices',
  'devices_low',
  'devices_high',
  'share',
  'warehouse_devices',
  'warehouse_share',
  'baseline_devices',
  'baseline_share',
  'index',
  'index_low',
  'index_high',
  'small',
] as const;

function csvRow(entry: CompositionEntry): Record<(typeof columns)[number], string | number | null> {
  return {
    attribute_id: entry.attributeId,
    name: entry.name,
    provider: entry.provider,
    value: entry.value,
    devices: entry.devices,
    devices_low: entry.deviceRange?.low ?? null,
    devices_high: entry.deviceRange?.high ?? null,
    share: entry.share,
    warehouse_devices: entry.warehouseDevices,
    warehouse_share: entry.warehouseShare,
    baseline_devices: entry.baselineDevices,
    baseline_share: entry.baselineShare,
    index: entry.index,
    index_low: entry.indexRange?.low ?? null,
    index_high: entry.indexRange?.high ?? null,
    small: String(entry.small),
  };
}
