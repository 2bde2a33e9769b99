import { readFileSync, readdirSync } from 'node:fs';

// Lists the tenant filters in the source code, so that a test can check that it has seen a statement with each of them.
// Filters are recognized by their notation. Add new notations to `notations`.

const folder = 'src/adapters/postgres';
const notations = [
  /partner_id', '(?:=|in)'/,
  /partner_id = /,
  /\binScope\((?:scope|reach)\)/,
  // Matches a filter on the partner's own row.
  /'id', '(?:=|in)', partnerIds?\b/,
];
const filter = new RegExp(notations.map(({ source }) => source).join('|'), 'g');

/** Returns the number of filters in each file that has filters. */
export function countFilters(): Record<string, number> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const counts = names
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => [name, readFileSync(`${folder}/${name}`, 'utf8').match(filter)?.length ?? 0] as const);
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}

const byCommands = 'the command line only';
const byWorkers = 'workers only';
const byBoth = 'workers and the command line only';
const ofFoundAudience = 'follows a statement that has found the audience for the caller';
const ofFoundJob = 'follows a statement that has found the import or the file for the caller';
const ofFoundWebhook = 'follows a statement that has found the webhook for the caller';
const ofFoundSubscription = 'follows a statement that has found the subscription for the caller';
const ofFilteredIds = 'selects only IDs, and the records with these IDs are selected with a filter of their own';
const ofPartnerRow = 'belongs to the row of the partner, which the policy of its table filters';

/** For each filter, the API statement that contains it, or the code that uses it if no partner call reaches it. */
export const expectedFilters: Readonly<Record<string, readonly (RegExp | string)[]>> = {
  'api-key-store.ts': [
    /from "api_key" where "partner_id" = \$\d+ and "id" > \$/,
    byCommands,
    /from "api_key" where "partner_id" = \$.* for update$/,
    'follows a statement that has found the key for the caller',
  ],
  'attribute-store.ts': [
    /^update "attribute" .* where "partner_id" = \$/,
    /from "attribute" .* where "attribute"\."partner_id" = \$/,
    /^select "id" from "attribute" where "partner_id" = \$/,
    ofFoundJob,
    ofFoundJob,
  ],
  'audience-files.ts': [
    // Other statements include this filter.
    /\(audience\.partner_id = \$\d+ AND audience\.customer_id /,
    /FROM audience, LATERAL [\s\S]* AND \(audience\.partner_id = \$/,
  ],
  'audience-summary.ts': [
    /FROM audience, LATERAL [\s\S]* AS entry WHERE audience\.id = \$\d+ AND \(audience\.partner_id = \$/,
    /WHERE job\.partner_id = \$\d+ AND job\.id IN \(SELECT job_id FROM load\)/,
  ],
  'audience-filter.ts': [ofFilteredIds, ofFilteredIds],
  'audience-history.ts': [
    /from "audience_load" as "load" [\s\S]* and \(audience\.partner_id = \$/,
    /FROM audience_load load JOIN job [\s\S]* AND load\.partner_id = \$[\s\S]*UNION ALL/,
    /FROM dead_generation\s+WHERE audience_id = \$\d+ AND partner_id = \$/,
    /WHERE load\.job_id = ANY [\s\S]* AND load\.partner_id = \$/,
    /WHERE load\.job_id = ANY [\s\S]* AND \(audience\.partner_id = \$/,
  ],
  'audience-store.ts': [
    /^select "generation", "warehouse_segment_id" from "audience" where .* and \(audience\.partner_id = \$/,
    /^update "job" .* where "partner_id" = \$/,
    /\(SELECT \* FROM audience WHERE \(audience\.partner_id = \$/,
  ],
  'audit-log.ts': [byCommands],
  'composition-store.ts': [/where "warehouse_segment_id" = \$\d+ and \(audience\.partner_id = \$/, ofFoundAudience],
  'console-sessions.ts': [ofFoundAudience],
  'credentials.ts': [byWorkers],
  'customer-store.ts': [
    /from "customer" where "partner_id" = \$\d+ and "name" = \$/,
    /^insert into "user_token" .* where "partner_id" = \$/,
    byCommands,
    /from "user_token" as "token" .* "token"\."partner_id" = \$/,
    'follows a statement that has found the customer for the caller',
  ],
  'device-retention.ts': Array.from({ length: 7 }, () => byBoth),
  'erasure-batches.ts': [byWorkers],
  'erasure-store.ts': [
    /from "erasure" where "partner_id" = \$\d+ and "id" < \$/,
    /from "erasure" where "id" = \$\d+ and "partner_id" = \$/,
    'follows a statement that has found the deletion for the caller',
    /^select count\(\*\) as "open" from "erasure" where "partner_id" = \$/,
  ],
  'event-log.ts': [byWorkers, /FROM event LEFT JOIN customer [\s\S]* WHERE event\.partner_id = \$/],
  'idempotency-store.ts': [
    /from "accepted_request" where "partner_id" = \$/,
    /SELECT \(SELECT idempotency_keys FROM partner_usage WHERE partner_id = \$/,
  ],
  'import-filter.ts': Array.from({ length: 5 }, () => ofFilteredIds),
  'import-log-store.ts': [
    /where "log"\."partner_id" = \$.* and "log"\."log_type"/,
    ofFoundJob,
    ofFoundJob,
    ofFoundJob,
    /where "log"\."partner_id" = \$/,
  ],
  'lane/cancel-job.ts': [/from "job" where "id" = \$.* and "partner_id" = \$.* for update/],
  'lane/job-events.ts': [ofFoundAudience],
  'lane/lane-store.ts': [
    /^select "prefix", "suspended_at" from "partner" where "id" = \$/,
    byWorkers,
    byWorkers,
    byBoth,
    /^update "partner" .* where "id" = \$/,
    /^insert into "job" [\s\S]* FROM job WHERE partner_id = \$/,
    /^insert into "job" [\s\S]* stored_rows FROM partner_usage WHERE partner_id = \$/,
    /^insert into "job" [\s\S]* stored_bytes FROM partner_usage WHERE partner_id = \$/,
  ],
  'loaded-files.ts': [/from "job_file" as "file" where "file"\."partner_id" = \$/],
  'open-jobs.ts': [/ahead\.partner_id = job\.partner_id/],
  'operations/select-jobs.ts': [byCommands],
  'operations/select-lanes.ts': [byCommands],
  'operations/select-partners.ts': Array.from({ length: 3 }, () => byCommands),
  'overlap-store.ts': [/from "audience" where "id" in \(.* and \(audience\.partner_id = \$/, ofFoundAudience],
  'report-budget.ts': [/FROM report_draw\s+WHERE partner_id = \$/],
  'lane-history.ts': [ofPartnerRow, ofPartnerRow],
  'reject-exports.ts': [
    ofFoundJob,
    ofFoundJob,
    ofFoundJob,
    ofFoundJob,
    ofFoundAudience,
    ofFoundAudience,
    ofFoundAudience,
    ofFoundJob,
    ofFoundJob,
    /FROM reject_export export, LATERAL [\s\S]*WHERE export\.partner_id = \$/,
    ofFoundJob,
  ],
  'reject-queue.ts': Array.from({ length: 3 }, () => byWorkers),
  'repair.ts': Array.from({ length: 8 }, () => byCommands),
  'row-audit.ts': Array.from({ length: 7 }, () => byCommands),
  'own-access/own-customers.ts': [
    /^update "customer" .* where "partner_id" = \$/,
    /^update "user_token" .* where "partner_id" = \$/,
    /^select count\("id"\) as "used" from "customer" where "partner_id" = \$/,
  ],
  'own-access/own-keys.ts': [
    /from "api_key" where "partner_id" = \$\d+ and revoked_at IS NULL/,
    /^update "api_key" set "revoked_at" .* where "partner_id" = \$/,
    /^select count\("id"\) as "used" from "api_key" where "partner_id" = \$/,
  ],
  'own-access/own-storage-keys.ts': [
    byWorkers,
    'test/acceptance/storage-keys.test.ts covers it',
    'test/acceptance/storage-keys.test.ts covers it',
  ],
  'own-access/run-change.ts': [/FROM api_key\s+WHERE partner_id = \$/],
  'partner-removals.ts': Array.from({ length: 8 }, () => byCommands),
  'partner-store.ts': [
    byBoth,
    /^select "audience_bad_row_share" .*"unhyphenated_ids" .* from "partner" where "id" = \$/,
    byCommands,
    byCommands,
    byCommands,
    byCommands,
  ],
  'upload-log.ts': ['test/acceptance/uploads.test.ts covers it', 'test/acceptance/uploads.test.ts covers it'],
  'usage-store.ts': [byWorkers, ...Array.from({ length: 5 }, () => ofPartnerRow), byWorkers],
  'subscriptions/subscription-queue.ts': Array.from({ length: 4 }, () => byWorkers),
  'subscriptions/subscription-store.ts': [
    ofFoundSubscription,
    ofFoundSubscription,
    /WHERE subscription\.id = \$\d+ AND subscription\.partner_id = \$[\s\S]* FOR UPDATE OF state/,
    /^select "id" from "subscription" where "partner_id" = \$/,
    ofFoundSubscription,
    /WHERE s\.partner_id = \$\d+ AND s\.deleted_at IS NULL/,
    ofFoundSubscription,
  ],
  'webhook-queue.ts': Array.from({ length: 6 }, () => byWorkers),
  'webhook-store.ts': [
    ofFoundWebhook,
    ofFoundWebhook,
    ofFoundWebhook,
    /WHERE webhook\.id = \$\d+ AND webhook\.partner_id = \$[\s\S]* FOR UPDATE OF state/,
    /^select "id" from "webhook" where "partner_id" = \$/,
    ...Array.from({ length: 6 }, () => ofFoundWebhook),
    /WHERE webhook\.partner_id = \$\d+ AND webhook\.deleted_at IS NULL/,
    ofFoundWebhook,
  ],
};
