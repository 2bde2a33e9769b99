import { GetObjectCommand, HeadObjectCommand, ListObjectsV2Command } from '@aws-sdk/client-s3';
import { columnOfReason } from '@inlet/row-rule/row-rule';
import { gunzipSync, gzipSync } from 'node:zlib';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import { audienceFileListSchema } from '../../src/adapters/http/records/audience.ts';
import { eventSchema } from '../../src/adapters/http/records/event.ts';
import { queuedSchema } from '../../src/adapters/http/records/import-log.ts';
import { problemSchema } from '../../src/adapters/http/records/problem.ts';
import {
  audienceRejectsSchema,
  rejectsFileListSchema,
  rejectsSchema,
} from '../../src/adapters/http/records/rejects.ts';
import { goodKey, plantedReason, retiredKey, rowsWithBadOnes } from '../support/bad-rows.ts';
import { device } from '../support/device-id.ts';
import { createOwnBucket } from '../support/own-bucket.ts';
import { parseCsv } from '../support/parse-csv.ts';
import { type TestPartner, createPartner } from '../support/partners.ts';
import { startWorker, stopProcess } from '../support/running-service.ts';
import { type Audiences, joinAudiences } from '../support/start-audiences.ts';
import { type Marketplace, joinMarketplace, startMarketplace } from '../support/start-marketplace.ts';
import { withDatabase } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';
import { type ApiClient, apiClient, readProblem } from './api-client.ts';
import { audiencePath } from './audience-client.ts';

const eventListSchema = z.array(eventSchema);
type Rejects = z.infer<typeof rejectsSchema>;
type RejectsFile = z.infer<typeof rejectsFileListSchema>[number];

const pathOf = (id: number): string => `/v1/marketplace/import/${id}/rejects`;

async function post(api: ApiClient, id: number, body: object = {}): Promise<Response> {
  return api.request(pathOf(id), { method: 'POST', body: JSON.stringify(body) });
}

async function read(api: ApiClient, id: number): Promise<Rejects> {
  return rejectsSchema.strict().parse(await (await api.request(pathOf(id))).json());
}

async function finished(api: ApiClient, id: number, seconds = 60): Promise<Rejects> {
  let found: Rejects | undefined;
  await waitUntil(
    `the rejects of import ${id} are exported`,
    async () => (found = await read(api, id)).status >= 2,
    seconds,
  );
  if (!found) throw new Error('no record');
  return found;
}

async function exported(api: ApiClient, id: number, body: object = {}): Promise<Rejects> {
  const answer = await post(api, id, body);
  expect(answer.status).toBe(202);
  expect(answer.headers.get('location')).toBe(pathOf(id));
  return finished(api, id);
}

async function filesOf(api: ApiClient, id: number, query = ''): Promise<RejectsFile[]> {
  const answers = await api.follow(`${pathOf(id)}/files${query}`);
  return (await Promise.all(answers.map(async (answer) => rejectsFileListSchema.parse(await answer.json())))).flat();
}

async function download(file: Pick<RejectsFile, 'url'> | null | undefined): Promise<Buffer> {
  const answer = await fetch(file?.url ?? '');
  expect(answer.status).toBe(200);
  return gunzipSync(Buffer.from(await answer.arrayBuffer()));
}

async function codeOf(answer: Response, status: number): Promise<string> {
  expect(answer.status).toBe(status);
  return problemSchema.parse(await readProblem(answer)).code;
}

/** The end of an export is recorded together with its event. */
async function eventsOf(api: ApiClient, path: string): Promise<z.infer<typeof eventListSchema>> {
  const events = eventListSchema.parse(await (await api.request('/v1/events?limit=1000')).json());
  return events.filter(({ link }) => link === path);
}

const csvHeader = ['file', 'row', 'column', 'code', 'text'];

describe("an import's rejected rows", () => {
  let market: Marketplace;
  beforeAll(async () => {
    market = await joinMarketplace();
    await market.partner.createAttribute('sport', goodKey);
    const retired = await market.partner.createAttribute('retired', retiredKey);
    await market.partner.operate('attribute', 'retire', String(retired), '--partner', market.partner.name);
    await market.partner.upload('two/a.csv', `${device(1)},${goodKey}\nnonsense,${goodKey}\n\n"${device(2)}",x\r\n`);
    await market.partner.upload('two/b.csv', `=1+1,${goodKey}\n`);
    await market.partner.upload('two/c.csv', `${device(3)},${goodKey}\n`);
  });
  afterAll(() => market.stop());

  const imported = async (file: string, more = {}): Promise<number> => {
    const id = await market.api.queue({ file_path: file, key_type: 1, ...more });
    await market.api.waitForEnd(id, 600);
    return id;
  };

  it(
    'rejected rows are exported completely, with the line number, reason, and text of each row',
    { timeout: 900_000 },
    async () => {
      const rows = inject('campaign') === 'long' ? 10_000_000 : 100_000;
      const content = Buffer.concat([...rowsWithBadOnes(rows)]);
      await market.partner.upload('large.csv.gz', gzipSync(content, { level: 1 }));
      const id = await imported('large.csv.gz');
      const log = await market.api.get(id);
      expect(log.errors?.map(({ count }) => count)).toEqual(Array.from({ length: 8 }, () => rows / 80));
      const loadSeconds = (Date.parse(log.finished_at ?? '') - Date.parse(log.started_at ?? '')) / 1000;

      const done = await exported(market.api, id);
      expect(done).toMatchObject({
        status: 2,
        files_total: 1,
        files_done: 1,
        files_failed: 0,
        rows: rows / 10,
        error: null,
      });
      expect(done.bytes_read).toBe(done.bytes_total);
      const seconds = (Date.parse(done.finished_at ?? '') - Date.parse(done.requested_at)) / 1000;
      process.stdout.write(`${rows} rows: loaded in ${loadSeconds} s, rejected rows exported in ${seconds} s\n`);
      // A small load is so fast that the ratio would mainly depend on the interval between two checks for exports.
      expect(seconds / loadSeconds).toBeLessThanOrEqual(inject('campaign') === 'long' ? 1 : Number.POSITIVE_INFINITY);

      const [file] = await filesOf(market.api, id);
      expect(file).toMatchObject({
        file: 'large.csv.gz',
        rejects_path: `rejects/${id}/1/large.csv.gz.csv.gz`,
        rows: rows / 10,
      });
      expect((await download(file)).equals(bruteForce('large.csv.gz', content)), 'the same bytes').toBe(true);
    },
  );

  it('exported rows are listed per file, and files without rejected rows are omitted', async () => {
    const id = await imported('two/', { compressed: false });
    expect(await exported(market.api, id)).toMatchObject({ status: 2, files_total: 2, files_done: 2, rows: 3 });
    const files = await filesOf(market.api, id, '?limit=1');
    expect(files.map(({ file, rows }) => [file, rows])).toEqual([
      ['two/a.csv', 2],
      ['two/b.csv', 1],
    ]);
    expect(parseCsv((await download(files[0])).toString())).toEqual([
      csvHeader,
      ['two/a.csv', '2', 'id', 'invalid_id', `nonsense,${goodKey}`],
      ['two/a.csv', '4', 'keys', 'unknown_key', `"${device(2)}",x`],
    ]);
    expect(
      parseCsv((await download(files[1])).toString())
        .at(1)
        ?.at(4),
      'the exact text',
    ).toBe(`=1+1,${goodKey}`);
    // The partner can read the object with its own storage credentials.
    const key = { Bucket: market.partner.bucket, Key: market.partner.prefix + (files[0]?.rejects_path ?? '') };
    const object = await market.partner.s3.send(new GetObjectCommand(key));
    expect(gunzipSync((await object.Body?.transformToByteArray()) ?? '').length).toBeGreaterThan(100);
  });

  it('rejected rows are exported only once, however often the export is requested', async () => {
    const id = await imported('two/a.csv');
    const first = await exported(market.api, id);
    expect(rejectsSchema.parse(await (await post(market.api, id)).json())).toEqual(first);
  });

  it('exported rows are not imported by a prefix that covers their folder, unless the prefix names the folder', async () => {
    const id = await imported('two/a.csv');
    await exported(market.api, id);
    await market.partner.upload('rejoice.csv.gz', gzipSync(`${device(4)},${goodKey}\n`));
    const log = await market.api.get(await imported('rej', { compressed: true }));
    expect(log).toMatchObject({ status: 2, total_rows: '1' });
    const named = await market.api.get(await imported(`rejects/${id}/`, { compressed: true }));
    expect(named.errors?.map(({ code }) => code)).not.toContain('no_files');
  });

  it('rejected rows cannot be exported from a file that was changed or deleted, until the file is restored', async () => {
    await market.partner.upload('changing/a.csv', `${device(1)},${goodKey}\nnonsense,${goodKey}\n`);
    await market.partner.upload('changing/b.csv', `${device(2)},${goodKey}\nnonsense,${goodKey}\n`);
    const id = await imported('changing/', { compressed: false });
    await market.partner.upload('changing/a.csv', `${device(1)},${goodKey}\n`);
    expect(await exported(market.api, id)).toMatchObject({
      status: 3,
      files_done: 1,
      files_failed: 1,
      error: { code: 'file_failed' },
    });
    expect((await filesOf(market.api, id)).map(({ error }) => error?.code)).toEqual(['file_changed', undefined]);
    await market.partner.upload('changing/a.csv', `${device(1)},${goodKey}\nnonsense,${goodKey}\n`);
    expect(await exported(market.api, id)).toMatchObject({ status: 2, files_done: 2, rows: 2, error: null });
    const of = { import_log_id: id, files: 2 };
    expect(await eventsOf(market.api, pathOf(id))).toMatchObject([
      { type: 'import.rejects.failed', data: { ...of, rows: 1, failed_files: 1, code: 'file_failed' } },
      { type: 'import.rejects.finished', data: { ...of, rows: 2, failed_files: 0, code: null } },
    ]);
  });

  it('rejected rows are available only when the import has finished, and never for a delete', async () => {
    const body = JSON.stringify({ key_type: 1, keys: [goodKey] });
    const answer = await market.api.request('/v1/marketplace/import', { method: 'DELETE', body });
    const { import_log_id: id } = queuedSchema.parse(await answer.json());
    expect(await codeOf(await post(market.api, id), 422)).toBe('rejects_not_available');
    expect(await codeOf(await market.api.request(pathOf(id)), 404)).toBe('not_found');
  });

  it('rejected rows cannot be found by another partner', async () => {
    const id = await imported('two/a.csv');
    await exported(market.api, id);
    const other: TestPartner = await createPartner(market.stores.environment);
    const stranger = apiClient(market.service.url, other.apiKey);
    for (const sub of ['', '/files'])
      expect(await codeOf(await stranger.request(pathOf(id) + sub), 404)).toBe('not_found');
    expect(await codeOf(await post(stranger, id), 404)).toBe('not_found');
  });

  it("rejected rows are exported from a partner's own bucket to the shared bucket when its credentials are sent again", async () => {
    const own = await createOwnBucket();
    await own.upload('in/day.csv', `${device(1)},${goodKey}\nnonsense,${goodKey}\n`);
    const source = { file_path: `s3://${own.bucket}/in/day.csv`, path_type: 1, credentials: own.credentials };
    const id = await imported('', source);
    expect(await codeOf(await post(market.api, id), 400)).toBe('credentials_required');
    expect(await exported(market.api, id, { credentials: own.credentials })).toMatchObject({ status: 2, rows: 1 });
    const [file] = await filesOf(market.api, id);
    expect(file?.rejects_path).toBe(`rejects/${id}/1/in/day.csv.csv.gz`);
    expect(parseCsv((await download(file)).toString())).toHaveLength(2);
    const left = await withDatabase(market.stores, (client) =>
      client.query('SELECT FROM job_credential WHERE job_id = $1', [id]),
    );
    expect(left.rowCount, 'stored credentials').toBe(0);
  });

  it("exported rows expire and are removed, but the partner's own files in the same folder remain", async () => {
    const id = await imported('two/a.csv');
    const notes = `rejects/${id}/1/notes.txt`;
    await market.partner.upload(notes, 'mine');
    await exported(market.api, id);
    await withDatabase(market.stores, (client) =>
      client.query(`UPDATE reject_export SET expires_at = now() - interval '1 second' WHERE job_id = $1`, [id]),
    );
    expect(await codeOf(await market.api.request(pathOf(id)), 404)).toBe('not_found');
    const { bucket, prefix, s3 } = market.partner;
    const list = new ListObjectsV2Command({ Bucket: bucket, Prefix: `${prefix}rejects/${id}/` });
    const keys = async (): Promise<unknown> => (await s3.send(list)).Contents?.map(({ Key: key }) => key);
    await waitUntil('the objects are removed', async () => isDeepStrictEqual(await keys(), [prefix + notes]), 30);
    expect(await exported(market.api, id), 'a new export').toMatchObject({ status: 2, rows: 2 });
  });

  /** Reads the lines one by one. Gets the expected reasons from the generator of the rows, not from the row rule. */
  function bruteForce(file: string, content: Buffer): Buffer {
    const quoted = (bytes: Uint8Array): Buffer =>
      Buffer.from(`"${Buffer.from(bytes).toString('latin1').replaceAll('"', '""')}"`, 'latin1');
    const out: Buffer[] = [Buffer.from('"file","row","column","code","text"\r\n')];
    for (let start = 0, row = 1; start < content.length; row += 1) {
      const end = content.indexOf(10, start);
      const reason = plantedReason(row);
      if (reason) {
        const column = columnOfReason(reason) ?? '';
        const line = content.subarray(start, end);
        out.push(Buffer.from(`"${file}",${row},"${column}","${reason}",`), quoted(line), Buffer.from('\r\n'));
      }
      start = end + 1;
    }
    return Buffer.concat(out);
  }
});

describe('the rejected rows of a file in an audience', () => {
  let market: Audiences;
  beforeAll(async () => {
    market = await joinAudiences();
    await market.partner.upload('some/a.csv', `${device(1)},x\n${'nonsense,y\n'.repeat(250)}`);
  });
  afterAll(() => market.stop());

  it('rejected rows can be exported and downloaded from a URL', async () => {
    const { audienceId } = await market.audiences.create('Rejects', 'some/a.csv');
    await market.audiences.settled(audienceId);
    const list = await market.api.request(`${audiencePath}/${audienceId}/files`);
    const [entry] = audienceFileListSchema.parse(await list.json());
    const fileId = entry?.file_id;
    const path = `${audiencePath}/${audienceId}/files/${fileId}/rejects`;
    expect(await codeOf(await market.api.request(path), 404)).toBe('not_found');
    expect((await market.api.request(path, { method: 'POST' })).status).toBe(202);
    let found: z.infer<typeof audienceRejectsSchema> | undefined;
    await waitUntil('the rejects are exported', async () => {
      found = audienceRejectsSchema.parse(await (await market.api.request(path)).json());
      return found.status >= 2;
    });
    expect(found).toMatchObject({
      status: 2,
      rows: 250,
      file: { file: `${market.partner.prefix}some/a.csv`, rows: 250 },
    });
    expect(found?.file?.rejects_path).toBe(`rejects/audiences/${audienceId}/${fileId}/1/a.csv.csv.gz`);
    const lines = parseCsv((await download(found?.file)).toString());
    expect(lines).toHaveLength(251);
    const data = { audience_id: audienceId, file_id: fileId, rows: 250, code: null };
    expect(await eventsOf(market.api, path)).toMatchObject([{ type: 'audience.rejects.finished', data }]);
    expect(lines.at(-1)).toEqual([`${market.partner.prefix}some/a.csv`, '251', 'id', 'invalid_id', 'nonsense,y']);
    const missing = await market.api.request(`${audiencePath}/${audienceId}/files/999999/rejects`, { method: 'POST' });
    expect(await codeOf(missing, 404)).toBe('not_found');
  });
});

describe('an export of rejected rows whose worker is killed', () => {
  let market: Marketplace;
  beforeAll(async () => {
    market = await startMarketplace('rejects-killed');
    await market.partner.createAttribute('sport', goodKey);
  });
  afterAll(() => market.stop());

  it('the export is continued by another worker, which does not repeat completed files', async () => {
    for (const name of ['a', 'b', 'c']) {
      const bad = `nonsense-${name},${goodKey}\n`.repeat(500);
      await market.partner.upload(`k/${name}.csv`, `${device(1)},${goodKey}\n${bad}`);
    }
    const id = await market.api.queue({ file_path: 'k/', key_type: 1, compressed: false });
    await market.api.waitForEnd(id);
    await stopProcess(market.service.worker);
    expect((await post(market.api, id)).status).toBe(202);
    const killed = await startWorker(
      { ...market.stores.environment, INLET_FAILPOINT: 'after rejectQueue.commitFile' },
      'rejects-killed',
    );
    await waitUntil('the worker is killed', () => Promise.resolve(killed.child.signalCode === 'SIGKILL'), 30);
    expect(await read(market.api, id)).toMatchObject({ status: 1, files_total: 3, files_done: 1 });
    const { bucket, prefix, s3 } = market.partner;
    const firstObject = new HeadObjectCommand({ Bucket: bucket, Key: `${prefix}rejects/${id}/1/k/a.csv.csv.gz` });
    const { LastModified: before } = await s3.send(firstObject);
    const next = await startWorker(market.stores.environment, 'rejects-killed-next');
    expect(await finished(market.api, id)).toMatchObject({ status: 2, files_done: 3, rows: 1500 });
    expect((await s3.send(firstObject)).LastModified, 'the first object was not written again').toEqual(before);
    for (const [index, file] of (await filesOf(market.api, id)).entries()) {
      const lines = parseCsv((await download(file)).toString());
      expect(lines).toHaveLength(501);
      expect(lines.at(-1)?.at(4)).toBe(`nonsense-${'abc'.charAt(index)},${goodKey}`);
    }
    await stopProcess(next.child);
  });
});
