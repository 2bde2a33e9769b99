import { z } from 'zod';
import { type BudgetKind, budgetDays, nextRenewal, sumDraws } from '../../../domain/composition/budget.ts';
import { limitFor } from '../../../domain/customer-share.ts';
import { maxOpenErasures } from '../../../domain/erasure.ts';
import { type Limits, type RequestLimits, maxKeysPerDelete } from '../../../domain/limits.ts';
import { type PartnerUsage, type Quotas, type Usage, quotaNames, shownUsage } from '../../../domain/quota.ts';
import { maxOpenExports } from '../../../domain/reject-export.ts';
import { maxOpenUploads } from '../../../domain/upload.ts';
import type { PartnerStore } from '../../../ports/partner-store.ts';
import type { UsageStore } from '../../../ports/usage-store.ts';
import type { FollowerLimits } from '../../../usecases/follow/record-broadcaster.ts';
import type { BudgetDeps } from '../../../usecases/report/report-budget.ts';
import { callerOf, partnerOf, scopeOf } from '../authentication.ts';
import { defineRoute } from '../operation.ts';
import { timestamp } from '../schemas.ts';

const limit = (description: string) => z.int().meta({ description });

const counted = { limit: z.int(), used: z.int() };
const countedQuota = (description: string) => z.object(counted).meta({ description });
const budget = (description: string) =>
  z
    .object({
      ...counted,
      renews_at: timestamp
        .nullable()
        .meta({ description: 'When the oldest part of `used` will stop counting. Null if nothing is used.' }),
    })
    .meta({ description });
const measuredQuota = (description: string) =>
  z
    .object({
      ...counted,
      measured_at: timestamp
        .nullable()
        .meta({ description: 'When `used` was measured. Null before the first measurement.' }),
    })
    .meta({ description });

export const limitsSchema = z
  .object({
    requests_per_minute_per_key: limit(
      'Maximum number of requests per minute with this API key, or across all console sessions of a user.',
    ),
    requests_per_minute_per_partner: limit(
      "Maximum number of requests per minute across all of the partner's API keys, and separately across all of its console sessions.",
    ),
    open_jobs: limit('Maximum number of unfinished jobs per partner. Up to 20 deletes are accepted beyond this limit.'),
    open_uploads: limit('Maximum number of uploads over HTTP that can be continued.'),
    open_exports: limit('Maximum number of exports of rejected rows that are waiting or running.'),
    open_deletions: limit('Maximum number of deletions of devices that are waiting or running.'),
    waiting_requests: limit('Maximum number of streams and waiting requests per API process.'),
    files_per_prefix: limit('Maximum number of files in one job.'),
    keys_per_delete: limit('Maximum number of keys in one delete request.'),
    audience_bad_row_share: z.number().min(0).max(1).meta({
      description: 'Maximum share of rejected rows in an audience file. With 0, one rejected row fails the file.',
    }),
    unhyphenated_ids: z.boolean().meta({
      description: 'Whether files may contain IDs without hyphens. If not, they are rejected as `hashed_id`.',
    }),
    device_days: z.number().int().min(1).optional().meta({
      description:
        'Number of days after which an attribute of a device is removed, counted from the end of the last import that contained the device with the attribute. Missing if attributes are kept until you delete them. Audiences are not affected.',
    }),
    gzip_file_bytes: limit('Maximum size of a gzipped file.'),
    plain_file_bytes: limit('Maximum size of an uncompressed file, and of a gzipped file after decompression.'),
    line_bytes: limit('Maximum length of a line. A longer line is rejected.'),
    body_bytes: limit('Maximum size of a request body.'),
    header_bytes: limit('Maximum size of the request headers, including the path.'),
    reports: z
      .object({
        composition: budget('New composition reports.'),
        overlap: budget('New overlaps. An overlap counts once for every published number that depends on one device.'),
      })
      .meta({
        description: `The privacy budget of the last ${budgetDays} days. With a user token, it is the customer's budget, and otherwise the budget of your own audiences. A limit of 0 means that there is no limit.`,
      }),
    quotas: z
      .object({
        stored_rows: measuredQuota(
          'Rows of your attributes and audiences, including duplicates that are not merged yet and deleted rows that are not purged yet.',
        ),
        stored_bytes: measuredQuota('Bytes that these rows occupy, rounded up to the next gigabyte.'),
        audiences: countedQuota('Your audiences, including the audiences of your customers.'),
        attributes: countedQuota('Your attributes, including retired ones.'),
        foreign_keys: countedQuota('Your foreign keys.'),
        webhooks: countedQuota('Your webhooks. With a user token, `used` is 0.'),
        subscriptions: countedQuota('Your subscriptions. With a user token, `used` is 0.'),
        idempotency_keys: measuredQuota('Requests with an `Idempotency-Key` in the last 24 hours.'),
      })
      .optional()
      .meta({
        description:
          'What you can store. Above a quota, the response is 422 `quota_exceeded`. Absent in the console for customers and for links to a report, because the usage covers the whole partner.',
      }),
  })
  .meta({ id: 'Limits' });

type Deps = BudgetDeps & {
  readonly limits: Limits;
  readonly quotas: Quotas;
  readonly requestLimits: RequestLimits;
  readonly followerLimits: FollowerLimits;
  readonly partners: PartnerStore;
  readonly usage: UsageStore;
};

const measuredAt = new Date('2026-11-15T01:12:18.654Z');

const count = (quota: number, { used }: Pick<Usage, 'used'>) => ({ limit: quota, used });
const measurement = (quota: number, usage: Usage) => ({
  ...count(quota, usage),
  measured_at: usage.measuredAt?.toISOString() ?? null,
});

export const getLimits = defineRoute({
  id: 'getLimits',
  tag: 'limits',
  method: 'GET',
  path: '/v1/limits',
  scope: 'any',
  summary: 'Get your limits',
  description:
    'Returns your rate and size limits, your quotas with their current usage, and the privacy budget. A customer can have half as many uploads, exports, and waiting requests as its partner. The `RateLimit` header of every response shows how many requests are left in the current minute.',
  response: {
    status: 200,
    description: 'The limits.',
    schema: limitsSchema,
    example: {
      requests_per_minute_per_key: 300,
      requests_per_minute_per_partner: 1_200,
      open_jobs: 200,
      open_uploads: 100,
      open_exports: 10,
      open_deletions: 100,
      waiting_requests: 250,
      files_per_prefix: 10_000,
      keys_per_delete: 1_000,
      audience_bad_row_share: 0,
      unhyphenated_ids: false,
      device_days: 90,
      gzip_file_bytes: 5_000_000_000,
      plain_file_bytes: 50_000_000_000,
      line_bytes: 102_400,
      body_bytes: 1_048_576,
      header_bytes: 16_384,
      reports: {
        composition: { limit: 100, used: 7, renews_at: '2026-12-01T08:30:00.000Z' },
        overlap: { limit: 100, used: 4, renews_at: '2026-12-03T14:05:11.000Z' },
      },
      quotas: {
        stored_rows: measurement(10_000_000_000, { used: 41_873_211, measuredAt }),
        stored_bytes: measurement(1_000_000_000_000, { used: 1_000_000_000, measuredAt }),
        audiences: count(10_000, { used: 12 }),
        attributes: count(10_000, { used: 240 }),
        foreign_keys: count(100_000, { used: 240 }),
        webhooks: count(10, { used: 1 }),
        subscriptions: count(10, { used: 2 }),
        idempotency_keys: measurement(100_000, { used: 87, measuredAt }),
      },
    },
  },
  problems: {},
  handler:
    ({ limits, quotas, requestLimits, followerLimits, partners, usage, budget: spending, reportLimits }: Deps) =>
    async (request) => {
      const partnerId = partnerOf(request).id;
      const scope = scopeOf(request);
      const { session } = callerOf(request);
      const used = !session || session.role === 'partner' ? await usage.read(partnerId) : null;
      const settings = await partners.readSettings(partnerId);
      const spentOn = async (kind: BudgetKind) => {
        const { ofCustomer } = await spending.findSpent(scope, kind);
        return {
          limit: reportLimits.perCustomer,
          used: sumDraws(ofCustomer),
          renews_at: nextRenewal(ofCustomer)?.toISOString() ?? null,
        };
      };
      return {
        requests_per_minute_per_key: requestLimits.perKey,
        requests_per_minute_per_partner: requestLimits.perPartner,
        open_jobs: limits.maxOpenJobs,
        open_uploads: limitFor(scope, maxOpenUploads),
        open_exports: limitFor(scope, maxOpenExports),
        open_deletions: maxOpenErasures,
        waiting_requests: limitFor(scope, followerLimits.ofPartner),
        files_per_prefix: limits.maxFilesPerPrefix,
        keys_per_delete: maxKeysPerDelete,
        audience_bad_row_share: settings.audienceBadRowShare,
        unhyphenated_ids: settings.unhyphenatedIds,
        ...(settings.deviceDays !== null && { device_days: settings.deviceDays }),
        gzip_file_bytes: limits.maxGzipFileBytes,
        plain_file_bytes: limits.maxPlainFileBytes,
        line_bytes: limits.maxLineBytes,
        body_bytes: requestLimits.maxBodyBytes,
        header_bytes: requestLimits.maxHeaderBytes,
        reports: { composition: await spentOn('composition'), overlap: await spentOn('overlap') },
        ...(used && { quotas: usageOf(quotas, used) }),
      };
    },
});

function usageOf(quotas: Quotas, used: PartnerUsage): NonNullable<z.output<typeof limitsSchema>['quotas']> {
  return {
    [quotaNames.storedRows]: measurement(quotas.storedRows, used.storedRows),
    [quotaNames.storedBytes]: measurement(quotas.storedBytes, {
      ...used.storedBytes,
      used: shownUsage('storedBytes', used.storedBytes.used),
    }),
    [quotaNames.audiences]: count(quotas.audiences, used.audiences),
    [quotaNames.attributes]: count(quotas.attributes, used.attributes),
    [quotaNames.foreignKeys]: count(quotas.foreignKeys, used.foreignKeys),
    [quotaNames.webhooks]: count(quotas.webhooks, used.webhooks),
    [quotaNames.subscriptions]: count(quotas.subscriptions, used.subscriptions),
    [quotaNames.idempotencyKeys]: measurement(quotas.idempotencyKeys, used.idempotencyKeys),
  };
}
