import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { CopyObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Pool } from 'pg';
import { apiClient } from '../acceptance/api-client.ts';
import { audienceClient, audiencePath } from '../acceptance/audience-client.ts';
import { type Storage, startStorage } from '../hostile/fake-storage.ts';
import { addApiKey } from '../support/add-api-key.ts';
import { device } from '../support/device-id.ts';
import { rows } from '../support/file-rows.ts';
import type { TestStores } from '../support/stores.ts';
import { type BarePartner, type Wired, newBarePartner } from '../support/wired.ts';
import { runConcurrently } from './run-concurrently.ts';

// Partners that use as much of the service as its limits allow.

export type Noise = {
  readonly name: string;
  readonly partnerId: number;
  /** Returns when the work is done, or soon after the signal is aborted. */
  readonly run: (signal: AbortSignal) => Promise<void>;
  /** Describes what the partner has achieved so far. */
  readonly describe: () => Promise<string>;
};

export type NoiseContext = {
  readonly deps: Wired;
  readonly stores: TestStores;
  readonly url: string;
  /** Connections to the run's database. */
  readonly client: Pool;
};

async function put({ deps, stores }: NoiseContext, key: string, Body: string): Promise<void> {
  await deps.s3.send(new PutObjectCommand({ Bucket: stores.config.INLET_S3_BUCKET, Key: key, Body }));
}

async function countJobs(
  { client }: NoiseContext,
  partnerId: number,
): Promise<{ open: number; done: number; failed: number }> {
  const { rows: found } = await client.query<{ open: number; done: number; failed: number }>(
    `SELECT count(*) FILTER (WHERE status < 2)::int AS open, count(*) FILTER (WHERE status = 2)::int AS done,
       count(*) FILTER (WHERE status = 3)::int AS failed
     FROM job WHERE partner_id = $1`,
    [partnerId],
  );
  return found[0] ?? { open: 0, done: 0, failed: 0 };
}

async function untilNoJobIsOpen(context: NoiseContext, partnerId: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await countJobs(context, partnerId)).open > 0) await pause(1_000);
}

/** Sends requests until `count` are accepted. Waits when the service answers 429 or 503. */
async function feed(
  context: NoiseContext,
  partner: BarePartner,
  { count, keys }: { readonly count: number; readonly keys: number },
  signal: AbortSignal,
  send: (apiKey: string, n: number) => Promise<Response>,
): Promise<void> {
  const apiKeys = [partner.apiKey];
  while (apiKeys.length < keys) apiKeys.push((await addApiKey(context.deps, partner)).apiKey);
  let next = 0;
  const sendSome = async (apiKey: string): Promise<void> => {
    for (let n = next++; n < count && !signal.aborted; n = next++) {
      while (!signal.aborted) {
        const answer = await send(apiKey, n);
        await answer.arrayBuffer();
        if (answer.status === 202) break;
        if (answer.status !== 429 && answer.status !== 503) throw new Error(`HTTP ${answer.status}`);
        await pause(Math.min(5, Number(answer.headers.get('retry-after') ?? 1)) * 1000);
      }
    }
  };
  await Promise.all(apiKeys.map(sendSome));
  await untilNoJobIsOpen(context, partner.id, signal);
}

/** One job with many large files. The storage copies the first file on the server side, without sending its bytes. */
export async function largeFiles(
  context: NoiseContext,
  { files, rowsOfFile }: { files: number; rowsOfFile: number },
): Promise<Noise> {
  const { deps, stores, url, client } = context;
  const { INLET_S3_BUCKET, INLET_S3_ENDPOINT, INLET_S3_ACCESS_KEY_ID, INLET_S3_SECRET_ACCESS_KEY } = stores.config;
  const partner = await newBarePartner(deps);
  await deps.attributes.create(partner.id, { name: 'x', foreignKeys: ['x'] });
  const keyOf = (n: number): string => `${partner.prefix}large/${String(n).padStart(3, '0')}.csv.gz`;
  const engine = createClient({
    url: stores.config.INLET_CLICKHOUSE_URLS[0]?.[0]?.reveal() ?? '',
    request_timeout: 600_000,
    log: { level: ClickHouseLogLevel.OFF },
  });
  await engine.command({
    query: `INSERT INTO FUNCTION s3({object: String}, {key: String}, {secret: String}, 'TSVRaw', 'line String')
      SELECT concat(toString(reinterpretAsUUID(sipHash128(number))), ',x') FROM numbers({rows: UInt64})`,
    query_params: {
      object: `${INLET_S3_ENDPOINT}/${INLET_S3_BUCKET}/${keyOf(0)}`,
      key: INLET_S3_ACCESS_KEY_ID,
      secret: INLET_S3_SECRET_ACCESS_KEY?.reveal(),
      rows: rowsOfFile,
    },
  });
  await engine.close();
  const CopySource = `${INLET_S3_BUCKET}/${keyOf(0)}`;
  for (let n = 1; n < files; n++)
    await deps.s3.send(new CopyObjectCommand({ Bucket: INLET_S3_BUCKET, Key: keyOf(n), CopySource }));
  return {
    name: 'large files',
    partnerId: partner.id,
    run: async (signal) => {
      await apiClient(url, partner.apiKey).queue({ file_path: 'large/', key_type: 1, compressed: true });
      await untilNoJobIsOpen(context, partner.id, signal);
    },
    describe: async () => {
      const { rows: found } = await client.query<{ loaded: number; rows: string; staged: number }>(
        `SELECT count(*) FILTER (WHERE status = 2)::int AS loaded, coalesce(sum(accepted_rows), 0) AS rows,
           count(*) FILTER (WHERE staged)::int AS staged
         FROM job_file WHERE partner_id = $1`,
        [partner.id],
      );
      return `${found[0]?.loaded} of ${files} files loaded, ${Number(found[0]?.rows) / 1e6} million rows`;
    },
  };
}

/** Many jobs of three rows each. Four keys together stay below the partner's rate limit. */
export async function tinyJobs(context: NoiseContext, count: number): Promise<Noise> {
  const { deps, url } = context;
  const partner = await newBarePartner(deps);
  await deps.attributes.create(partner.id, { name: 'x', foreignKeys: ['x'] });
  await put(context, `${partner.prefix}tiny.csv`, rows(0, 3, 'x'));
  const body = JSON.stringify({ file_path: 'tiny.csv', key_type: 1 });
  return {
    name: 'tiny jobs',
    partnerId: partner.id,
    run: (signal) =>
      feed(context, partner, { count, keys: 4 }, signal, (apiKey) =>
        apiClient(url, apiKey).request('/v1/marketplace/import', { method: 'POST', body }),
      ),
    describe: async () => {
      const { done, open, failed } = await countJobs(context, partner.id);
      return `${done} of ${count} jobs done, ${open} open, ${failed} failed`;
    },
  };
}

const devicesPerAttribute = 1_000;

/** Deletes attributes one after another. */
export async function deletes(context: NoiseContext, count: number): Promise<Noise> {
  const { deps, url } = context;
  const partner = await newBarePartner(deps);
  const api = apiClient(url, partner.apiKey);
  const keys = Array.from({ length: count }, (_, n) => `k${n}`);
  for (const key of keys) await deps.attributes.create(partner.id, { name: key, foreignKeys: [key] });
  await put(context, `${partner.prefix}all.csv`, keys.map((key) => rows(0, devicesPerAttribute, key)).join(''));
  const { status } = await api.waitForEnd(await api.queue({ file_path: 'all.csv', key_type: 1 }), 600);
  if (status !== 2) throw new Error(`the import has status ${status}`);
  return {
    name: 'deletes',
    partnerId: partner.id,
    run: (signal) =>
      feed(context, partner, { count, keys: 1 }, signal, (apiKey, n) => {
        const body = JSON.stringify({ key_type: 1, keys: [keys[n]] });
        return apiClient(url, apiKey).request('/v1/marketplace/import', { method: 'DELETE', body });
      }),
    describe: async () => {
      const { done, open, failed } = await countJobs(context, partner.id);
      return `${done - 1} of ${count} deletes done, ${open} open, ${failed} failed`;
    },
  };
}

/** A storage server for partner-owned buckets. It lists the files of one bucket but never answers any other request. */
export async function startHangingStorage(): Promise<Storage> {
  const size = 4 * 1024 * 1024;
  const contents = Array.from(
    { length: 20 },
    (_, n) => `<Contents><Key>day/${n}.csv</Key><ETag>"x"</ETag><Size>${size}</Size></Contents>`,
  );
  const list = `<?xml version="1.0"?><ListBucketResult>${contents.join('')}<IsTruncated>false</IsTruncated></ListBucketResult>`;
  return startStorage(({ path, query }, _request, response) => {
    if (path.startsWith('/listed-bucket') && query.has('list-type')) response.end(list);
  });
}

/** Jobs whose storage never answers requests for the list of files or for the files themselves. */
export async function hangingStorage(context: NoiseContext, which: 'list' | 'files', storage: Storage): Promise<Noise> {
  const { deps, url } = context;
  const partner = await newBarePartner(deps);
  await deps.attributes.create(partner.id, { name: 'x', foreignKeys: ['x'] });
  const bucket = which === 'list' ? 'silent-bucket' : 'listed-bucket';
  const credentials = { accessKeyId: 'AKIAHANGINGSTORAGE00', secretAccessKey: 'x'.repeat(40), region: 'us-east-1' };
  const body = { file_path: `s3://${bucket}/day/`, path_type: 1, key_type: 1, compressed: false, credentials };
  return {
    name: which === 'list' ? 'hanging list' : 'hanging files',
    partnerId: partner.id,
    run: async (signal) => {
      for (let n = 0; n < 20; n++) await apiClient(url, partner.apiKey).queue(body);
      while (!signal.aborted) await pause(1_000);
    },
    describe: async () => {
      const { done, open, failed } = await countJobs(context, partner.id);
      const requests = storage.asked.filter(({ path }) => path.startsWith(`/${bucket}`)).length;
      return `${requests} requests without a response, ${done} jobs done, ${open} open, ${failed} failed`;
    },
  };
}

const unreadSockets = 40;
const requestsPerSocket = 50;
const audienceFiles = 1_000;

/** Requests a large record again and again on many sockets without reading the responses. */
export async function unreadResponses(context: NoiseContext): Promise<Noise> {
  const { deps, url } = context;
  const partner = await newBarePartner(deps);
  const paths = Array.from(
    { length: audienceFiles },
    (_, n) => `day/${'x'.repeat(150)}${String(n).padStart(4, '0')}.csv`,
  );
  await runConcurrently(paths, 16, (path) => put(context, partner.prefix + path, `${device(1)},\n`));
  const audiences = audienceClient(url, partner.apiKey);
  const { audienceId } = await audiences.create('Large', 'day/');
  await audiences.settled(audienceId, 600);
  const request = `GET ${audiencePath}/${audienceId} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${partner.apiKey}\r\n\r\n`;
  let sent = 0;
  const holdSocket = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      const socket = connect(Number(new URL(url).port), '127.0.0.1');
      const closed = new Promise((resolve) => socket.once('close', resolve));
      socket.on('error', () => undefined);
      socket.pause().write(request.repeat(requestsPerSocket));
      sent += requestsPerSocket;
      // A paused socket does not notice when the server closes it.
      await Promise.race([closed, pause(30_000, undefined, { signal }).catch(() => undefined)]);
      socket.destroy();
    }
  };
  return {
    name: 'unread responses',
    partnerId: partner.id,
    run: async (signal) => {
      await Promise.all(Array.from({ length: unreadSockets }, () => holdSocket(signal)));
    },
    describe: () => Promise.resolve(`${sent} requests on ${unreadSockets} sockets`),
  };
}
