import type { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { randomUUID } from 'node:crypto';
import { asCaller } from '../../src/adapters/postgres/db/row-security.ts';
import { importMode, keyType, pathType } from '../../src/domain/import-log.ts';
import { busiestPartner, fillWithHistory } from '../support/aged-records.ts';
import { type Sent, watchStatements } from '../support/sent-statements.ts';
import { type TestStores, createPostgresStores, withDatabase } from '../support/stores.ts';
import { type Wired, wireUp } from '../support/wired.ts';

// Requests and lanes must not scan a whole table of records. `npm run aged-database` measures response times with
// millions of records.

const large = /Seq Scan on (job|job_file|import_log|audience_load|job_file_reject|load_account|audit_log)\b/;
const scope = { partnerId: busiestPartner, customerId: null };
const request = {
  filePath: 'a.csv',
  pathType: pathType.sharedBucket,
  keyType: keyType.foreignKey,
  compressed: null,
  mode: importMode.merge,
  credentials: null,
};
const dayAgo = (days: number): Date => new Date(Date.now() - days * 86_400_000);
const files = [{ key: 'k', path: 'k', etag: 'e', size: 1, gzip: true, lastModified: null }];

describe('in a database with the records of many jobs', () => {
  let stores: TestStores;
  let deps: Wired;
  const watch = watchStatements();
  let [importLogId, audienceId] = [0, 0];

  beforeAll(async () => {
    stores = await createPostgresStores();
    await fillWithHistory(stores, { jobs: 20_000, files: 60_000, partners: 50, days: 400 });
    deps = await wireUp(stores);
    await withDatabase(stores, async (client) => {
      const newest = async (query: string): Promise<number> =>
        Number((await client.query<{ id: string }>(query, [busiestPartner])).rows[0]?.id);
      importLogId = await newest('SELECT max(job_id) AS id FROM import_log WHERE partner_id = $1');
      audienceId = await newest('SELECT max(id) AS id FROM audience WHERE partner_id = $1');
    });
  });
  afterAll(async () => {
    watch.stop();
    await deps.close();
    await stores.drop();
  });

  const token = () => ({ partnerId: busiestPartner, id: randomUUID(), retryCount: 0 });
  const submit = () => deps.importLogs.submitImport(busiestPartner, request, 100);
  const operations: Readonly<Record<string, () => Promise<unknown>>> = {
    'listing imports': () => deps.importLogs.listNewest(busiestPartner, 100),
    'listing older imports': () => deps.importLogs.listNewest(busiestPartner, 100, importLogId - 1_000),
    'listing failed imports': () => deps.importLogs.listNewest(busiestPartner, 100, undefined, { statuses: [3] }),
    'listing deletes from one day': () =>
      deps.importLogs.listNewest(busiestPartner, 100, undefined, {
        logType: 1,
        createdFrom: dayAgo(100),
        createdTo: dayAgo(99),
      }),
    'listing imports with a path': () =>
      deps.importLogs.listNewest(busiestPartner, 100, undefined, { pathPrefix: 'daily/19' }),
    'listing failed imports with a path': () =>
      deps.importLogs.listNewest(busiestPartner, 100, undefined, { pathPrefix: 'daily/19', statuses: [3] }),
    'listing failed audiences': () =>
      deps.audiences.list(scope, { beforeId: Number.MAX_SAFE_INTEGER, limit: 1_000, filter: { statuses: [3] } }),
    'getting an import': () => deps.importLogs.find(busiestPartner, importLogId),
    'listing the files of an import': () =>
      deps.importLogs.listFiles(busiestPartner, importLogId, { afterId: 0, limit: 100, onlyWithErrors: false }),
    'marking imports': () => deps.importLogs.marksOf([importLogId]),
    'listing audiences': () => deps.audiences.list(scope, { beforeId: Number.MAX_SAFE_INTEGER, limit: 1_000 }),
    'getting an audience': () => deps.audiences.findWithFiles(scope, audienceId, { after: [0, 0], limit: 1_000 }),
    'submitting an import': submit,
    'running a lane': async () => {
      const step = await deps.lanes.nextStep(token(), 4);
      if (step.do !== 'prepare') throw new Error(`unexpected step: ${step.do}`);
      await deps.lanes.startImport(step.job.id, [files]);
      await deps.lanes.nextStep(token(), 4);
      await deps.lanes.summarizeJob(step.job.id);
      await deps.lanes.finishImport(step.job.id, { failure: null, errors: [], uniqueDevices: 0 });
    },
    'appending to an audience': () =>
      deps.audiences.append(scope, audienceId, { path: { relative: 'a.csv', literal: null }, maxOpenJobs: 100 }),
    'clearing an audience': () => deps.audiences.clear(scope, audienceId),
    'waking lanes': () => deps.lanes.requeueIdleLanes(),
    'removing expired jobs': async () => {
      const { jobIds } = await deps.retentionStore.listExpiredJobs({ days: 300, afterId: 0, limit: 500 });
      // In a database this small, 500 jobs are a large share of the table.
      const some = jobIds.slice(0, 20);
      await deps.retentionStore.countFiles(some, 5_001);
      await deps.retentionStore.removeJobs(some);
    },
  };

  const plansOf = async (client: Client, { text, values }: Sent): Promise<string[]> => {
    if (!/^\s*(select|insert|update|delete|with)\b/i.test(text)) return [];
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${text}`, [...values]);
    return rows.map((row) => row['QUERY PLAN']);
  };

  it.each(Object.keys(operations))('%s does not scan a whole table', async (name) => {
    const sent = await watch.during(() => asCaller(scope, async () => operations[name]?.()));
    expect(sent.length).toBeGreaterThan(0);
    await withDatabase(stores, async (client) => {
      // The API prepares its statements, so PostgreSQL may plan them without their values.
      for (const mode of ['force_custom_plan', 'force_generic_plan']) {
        await client.query(`SET plan_cache_mode = ${mode}`);
        for (const statement of sent) {
          const scans = (await plansOf(client, statement)).filter((line) => large.test(line));
          expect(scans, `${mode}: ${statement.text}`).toEqual([]);
        }
      }
    });
  });
});
