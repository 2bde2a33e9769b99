import { PutObjectCommand } from '@aws-sdk/client-s3';
import { parseArgs } from 'node:util';
import { apiClient } from '../acceptance/api-client.ts';
import { startTestCluster } from '../fault/test-cluster.ts';
import { device } from '../support/device-id.ts';
import { setup } from '../support/global-setup.ts';
import { withDatabase } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';
import { type BarePartner, newBarePartner } from '../support/wired.ts';
import { printLine } from './print-line.ts';
import { runConcurrently } from './run-concurrently.ts';

// Measures fairness. One partner queues many jobs, and then many partners queue a few jobs each. The result is the
// number of the first partner's jobs that have finished when the other partners' last job finishes. All jobs are queued
// before the workers start.

const { values } = parseArgs({
  options: {
    jobs: { type: 'string', default: '10000' },
    partners: { type: 'string', default: '1000' },
    each: { type: 'string', default: '5' },
    workers: { type: 'string', default: '4' },
  },
});
const [jobs, partners, each, workers] = [values.jobs, values.partners, values.each, values.workers].map(Number);
if (!jobs || !partners || !each || !workers)
  throw new Error('Usage: npm run fairness -- [--jobs] [--partners] [--each] [--workers]');
const maxShare = 0.05;
const concurrentRequests = 16;

await setup();
const cluster = await startTestCluster('fairness', {
  topology: 'one',
  workers: 0,
  settings: { INLET_MAX_OPEN_JOBS: '100000' },
});
const { deps, stores } = cluster;

const newPartner = async (): Promise<BarePartner> => {
  const partner = await newBarePartner(deps);
  const { id } = await deps.attributes.create(partner.id, { name: 'a', foreignKeys: [] });
  const body = [1, 2, 3].map((n) => `${device(n)},1,,0,${id}\n`).join('');
  const object = { Bucket: stores.config.INLET_S3_BUCKET, Key: `${partner.prefix}1.csv`, Body: body };
  await deps.s3.send(new PutObjectCommand(object));
  return partner;
};
const queue = (partner: BarePartner, count: number): Promise<void> =>
  runConcurrently(
    Array.from({ length: count }, (_, n) => n),
    count > concurrentRequests ? concurrentRequests : 1,
    () => apiClient(cluster.url, partner.apiKey).queue({ file_path: '1.csv', key_type: 0 }),
  );

const large = await newPartner();
await queue(large, jobs);
printLine(`queued ${jobs} jobs for one partner`);
const others = Array.from({ length: partners }, (_, n) => n);
await runConcurrently(others, concurrentRequests, async () => queue(await newPartner(), each));
printLine(`queued ${each} jobs for each of ${partners} partners`);
for (let n = 0; n < workers; n++) await cluster.addWorker();
const start = Date.now();

type Row = { small: number; large: number; failed: number; unordered: number };
const readCounts = async (): Promise<Row> =>
  withDatabase(stores, async (client) => {
    const { rows } = await client.query<Row>(
      `WITH ended AS (
         SELECT partner_id, seq, status, finished_at, lag(finished_at) OVER (PARTITION BY partner_id ORDER BY seq) AS before
         FROM job WHERE status >= 2
       )
       SELECT count(*) FILTER (WHERE partner_id <> $1)::int AS small, count(*) FILTER (WHERE partner_id = $1)::int AS large,
         count(*) FILTER (WHERE status <> 2)::int AS failed, count(*) FILTER (WHERE finished_at < before)::int AS unordered
       FROM ended`,
      [large.id],
    );
    if (!rows[0]) throw new Error('no row');
    return rows[0];
  });
let at = await readCounts();
let printedAt = Date.now();
await waitUntil(
  'the last job of the small partners has finished',
  async () => {
    at = await readCounts();
    if (Date.now() - printedAt > 30_000) {
      printedAt = Date.now();
      printLine(`${at.small} of ${partners * each} small jobs, ${at.large} of ${jobs} large ones`);
    }
    return at.small === partners * each;
  },
  3_600,
  250,
);
const seconds = (Date.now() - start) / 1000;
const share = at.large / jobs;
printLine(JSON.stringify({ seconds, jobsPerSecond: Math.round((at.small + at.large) / seconds), ...at, share }));
for (const { child } of cluster.workers) child.kill('SIGKILL');
await cluster.stop();
process.exit(share <= maxShare && at.failed === 0 && at.unordered === 0 ? 0 : 1);
