import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import type { ImportLogRecord } from '../../src/adapters/http/records/import-log.ts';
import type { CorpusFile } from '../corpus/corpus-file.ts';
import { corpusFiles, sampleCorpus } from '../corpus/corpus-files.ts';
import { corpusAttributes, goodRows } from '../corpus/lines.ts';
import { type TestPartner, createPartner } from '../support/partners.ts';
import { runInlet } from '../support/run-inlet.ts';
import type { Service } from '../support/running-service.ts';
import { selectOnShards } from '../support/shard-tables.ts';
import { sharedService } from '../support/shared-service.ts';
import { type TestStores, withDatabase } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';
import { type ApiClient, apiClient } from './api-client.ts';

/** The output of `inlet check --json`. */
const checkedSchema = z.object({
  files: z.array(
    z.object({
      path: z.string(),
      ok: z.boolean(),
      total_rows: z.number(),
      failure: z.object({ code: z.string() }).nullable(),
      reasons: z.array(z.object({ code: z.string(), first_row: z.number(), count: z.number() })),
    }),
  ),
});

/** Returns the flags that correspond to a file's import request. */
function flagsOf({ request }: CorpusFile): string {
  const { compressed, key_type = 1 } = request ?? {};
  return `--key-type ${key_type}${compressed === undefined ? '' : compressed ? ' --compressed' : ' --no-compressed'}`;
}

/** Imports of one partner run sequentially. Imports of several partners run in parallel. */
const partnerCount = 6;

const imported = inject('campaign') === 'long' ? corpusFiles : sampleCorpus(3);

describe(`a corpus of ${imported.length} malformed and unusual files`, { timeout: 300_000 }, () => {
  let stores: TestStores;
  let service: Service;
  let partners: readonly (TestPartner & { readonly api: ApiClient })[];
  let pids: readonly unknown[];
  const imports = new Map<string, { readonly api: ApiClient; readonly importLogId: number }>();

  beforeAll(async () => {
    ({ stores, service } = await sharedService());
    pids = [service.api.pid, service.worker.pid];
    partners = await Promise.all(Array.from({ length: partnerCount }, newPartner));
    await Promise.all(
      partners.map(async ({ upload, api }, index) => {
        const files = imported.filter((_, place) => place % partnerCount === index);
        let last = 0;
        for (const { path, body, request } of files) {
          await upload(path, body());
          last = await api.queue({ file_path: path, key_type: 1, ...request });
          imports.set(path, { api, importLogId: last });
        }
        await api.waitForEnd(last, 500);
      }),
    );
  }, 600_000);

  const newPartner = async (): Promise<TestPartner & { readonly api: ApiClient }> => {
    const partner = await createPartner(stores.environment);
    for (const [name, foreignKeys] of Object.entries(corpusAttributes)) {
      await partner.createAttribute(name, ...foreignKeys);
    }
    return { ...partner, api: apiClient(service.url, partner.apiKey) };
  };
  const importOf = async (path: string): Promise<ImportLogRecord> => {
    const queued = imports.get(path);
    if (!queued) throw new Error(`${path} was not imported`);
    return queued.api.get(queued.importLogId);
  };

  it('the corpus has at least sixty files, each with a unique name and path', () => {
    expect(corpusFiles.length).toBeGreaterThanOrEqual(60);
    expect(new Set(corpusFiles.map(({ name }) => name)).size).toBe(corpusFiles.length);
    expect(new Set(corpusFiles.map(({ path }) => path)).size).toBe(corpusFiles.length);
  });

  it.each(imported)('the file $path has the expected result ($name)', async ({ path, expected }) => {
    const log = await importOf(path);
    const codes = (log.errors ?? []).map(({ code, row, count }) => ({ code, row, count }));
    const { status } = log;
    const found = { status, total_rows: Number(log.total_rows), unique_devices: Number(log.unique_devices), codes };
    expect(found).toEqual(expected);
    expect(log.errors?.every(({ file }) => file === path) ?? true).toBe(true);
  });

  it('the corpus gets the same results from `inlet check`, which uploads no files', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'inlet-corpus-'));
    const found = new Map<string, unknown>();
    for (const [flags, files] of Map.groupBy(imported, flagsOf)) {
      const below = join(folder, flags);
      for (const { path, body } of files) {
        mkdirSync(dirname(join(below, path)), { recursive: true });
        writeFileSync(join(below, path), body());
      }
      const environment = { HOME: folder, INLET_URL: service.url, INLET_API_KEY: partners[0]?.apiKey ?? '' };
      const parameters = ['check', below, '--attributes', ...flags.split(' '), '--json', '--bad-rows', '0'];
      const { code, out, err } = await runInlet(environment, parameters);
      const { files: checked } = checkedSchema.parse(JSON.parse(out || err));
      expect(code).toBe(checked.every(({ ok }) => ok) ? 0 : 1);
      for (const { path, total_rows, failure, reasons } of checked) {
        const codes = [
          ...(failure ? [{ code: failure.code, row: null, count: 1 }] : []),
          ...reasons.map(({ code: reason, first_row: row, count }) => ({ code: reason, row, count })),
        ];
        found.set(path.slice(below.length + 1), { status: failure ? 3 : 2, total_rows, codes });
      }
    }
    rmSync(folder, { recursive: true });
    const logs = await Promise.all(
      imported.map(async ({ path }): Promise<[string, unknown]> => {
        const { status, total_rows, errors } = await importOf(path);
        const codes = (errors ?? []).map(({ code, row, count }) => ({ code, row, count }));
        return [path, { status, total_rows: Number(total_rows), codes }];
      }),
    );
    expect(imported.map(({ path }) => [path, found.get(path)])).toEqual(logs);
  });

  it('the corpus needs only one attempt per file', async () => {
    const { rows } = await withDatabase(stores, (client) =>
      client.query<{ path: string; attempt: number }>(
        'SELECT path, attempt FROM job_file WHERE attempt <> 1 AND partner_id = ANY ($1)',
        [partners.map(({ id }) => id)],
      ),
    );
    expect(rows).toEqual([]);
  });

  it('the corpus leaves the staging tables empty', async () => {
    const staged = `SELECT DISTINCT table FROM system.parts WHERE active AND rows > 0 AND database = currentDatabase()
      AND table IN ('staged_attributes_local', 'staged_devices_local', 'job_keys_local')`;
    // The worker drops the last job's staging table shortly after the job ends.
    await waitUntil('the staging tables are empty', async () => (await selectOnShards(stores, staged)).length === 0);
    expect(await selectOnShards(stores, staged)).toEqual([]);
  });

  it('the corpus does not prevent the same processes from loading a valid file later', async () => {
    const [first] = partners;
    if (!first) throw new Error('no partner');
    const { api } = first;
    await first.upload('after.csv', goodRows(10));
    const log = await api.waitForEnd(await api.queue({ file_path: 'after.csv', key_type: 1 }));
    expect(log).toMatchObject({ status: 2, total_rows: '10', unique_devices: '10', errors: null });
    expect([service.api.pid, service.worker.pid]).toEqual(pids);
    expect([service.api.exitCode, service.worker.exitCode]).toEqual([null, null]);
    expect([service.api.signalCode, service.worker.signalCode]).toEqual([null, null]);
  });
});
