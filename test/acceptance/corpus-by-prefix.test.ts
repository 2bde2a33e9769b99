import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import { importFileListSchema } from '../../src/adapters/http/records/import-log.ts';
import { type LoadErrorRecord, loadErrorListSchema } from '../../src/adapters/http/records/load-error.ts';
import type { CorpusFile } from '../corpus/corpus-file.ts';
import { corpusFiles, sampleCorpus } from '../corpus/corpus-files.ts';
import { corpusAttributes } from '../corpus/lines.ts';
import { type TestPartner, createPartner } from '../support/partners.ts';
import { runInlet } from '../support/run-inlet.ts';
import { type Marketplace, joinMarketplace } from '../support/start-marketplace.ts';
import { type ApiClient, apiClient } from './api-client.ts';
import { audienceClient, audiencePath } from './audience-client.ts';

// The worker loads small files under a prefix together and uses different code for a single file. The result of each
// file must be the same either way.

/** A file's status, row count, and codes. */
type FileResult = { readonly status: number; readonly rows: number; readonly codes: readonly string[] };

/** The first row and the count for each code. A file failure has no row. At most 100 rows are kept per reason. */
function codesOf(lines: readonly LoadErrorRecord[]): string[] {
  const byCode = Map.groupBy(lines, ({ code }) => code);
  return [...byCode].map(([code, of]) => `${code} ${of[0]?.row ?? 'file'} ${of.length}`).toSorted();
}

/** All files in an import by prefix have the same `compressed` and `key_type`. */
function folderOf({ path, request }: CorpusFile): string {
  const isGzip = request?.compressed ?? path.toLowerCase().endsWith('.gz');
  return `${isGzip ? 'packed' : 'plain'}-${request?.key_type ?? 1}/`;
}

async function errorsAt(api: ApiClient, path: string): Promise<Map<string | null, LoadErrorRecord[]>> {
  const answers = await api.follow(`${path}/errors?limit=1000`);
  const pages = await Promise.all(answers.map(async (answer) => loadErrorListSchema.parse(await answer.json())));
  return Map.groupBy(pages.flat(), ({ file }) => file);
}

const checkedSchema = z.object({
  files: z.array(
    z.object({
      path: z.string(),
      failure: z.object({ code: z.string() }).nullable(),
      reasons: z.array(z.object({ code: z.string(), first_row: z.number(), count: z.number() })),
    }),
  ),
});

/** Returns the results of `inlet check --audience` for each file, without any server. */
async function checkAsAudience(
  files: readonly CorpusFile[],
): Promise<Record<string, Pick<FileResult, 'status' | 'codes'>>> {
  const folder = mkdtempSync(join(tmpdir(), 'inlet-corpus-'));
  for (const { path, body } of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), body());
  }
  const { out } = await runInlet({ HOME: folder }, ['check', folder, '--audience', '--json', '--bad-rows', '0']);
  rmSync(folder, { recursive: true });
  const results = checkedSchema
    .parse(JSON.parse(out))
    .files.map(({ path, failure, reasons }): [string, Pick<FileResult, 'status' | 'codes'>] => {
      const codes = [
        ...(failure ? [`${failure.code} file 1`] : []),
        ...reasons.map(({ code, first_row, count }) => `${code} ${first_row} ${Math.min(count, 100)}`),
      ];
      return [path.slice(folder.length + 1), { status: failure ? 3 : 2, codes: codes.toSorted() }];
    });
  return Object.fromEntries(results);
}

const chosen = inject('campaign') === 'long' ? corpusFiles : sampleCorpus(1);

describe('a corpus of malformed and unusual files loaded together', { timeout: 300_000 }, () => {
  let market: Marketplace;

  beforeAll(async () => {
    market = await joinMarketplace();
  });
  afterAll(() => market.stop());

  const importFolder = async (folder: string): Promise<Map<string, FileResult>> => {
    const [compressed, key_type] = [folder.startsWith('packed'), folder.endsWith('0/') ? 0 : 1];
    const id = await market.api.queue({ file_path: folder, key_type, compressed });
    await market.api.waitForEnd(id, 250);
    const path = `/v1/marketplace/import/${id}`;
    const errors = await errorsAt(market.api, path);
    const answer = await market.api.request(`${path}/files?limit=1000`);
    return new Map(
      importFileListSchema.parse(await answer.json()).map(({ file, status, total_rows }) => {
        const result = { status, rows: total_rows, codes: codesOf(errors.get(file) ?? []) };
        return [file.slice(folder.length), result];
      }),
    );
  };

  it('the corpus gets the same results in imports by prefix as in imports of single files', async () => {
    for (const [name, foreignKeys] of Object.entries(corpusAttributes)) {
      await market.partner.createAttribute(name, ...foreignKeys);
    }
    await Promise.all(chosen.map((file) => market.partner.upload(folderOf(file) + file.path, file.body())));
    const folders = [...new Set(chosen.map(folderOf))];
    const found = new Map((await Promise.all(folders.map(importFolder))).flatMap((results) => [...results]));
    // These are the results that corpus.test.ts expects for each file alone.
    const expected = chosen.map(({ path, expected: { status, total_rows, codes } }) => [
      path,
      {
        status,
        rows: total_rows,
        codes: codes.map(({ code, row, count }) => `${code} ${row ?? 'file'} ${Math.min(count, 100)}`).toSorted(),
      },
    ]);
    expect(chosen.map(({ path }) => [path, found.get(path)])).toEqual(expected);
  });

  type AudienceResult = { readonly results: Record<string, FileResult>; readonly counts: readonly number[] };

  /** Loads the files at all paths into an audience, one path after another. */
  const loadAudience = async (
    partner: TestPartner,
    name: string,
    paths: readonly string[],
  ): Promise<AudienceResult> => {
    const audiences = audienceClient(market.service.url, partner.apiKey);
    const { audienceId } = await audiences.create(name, paths[0] ?? '');
    for (const path of paths.slice(1)) await audiences.append(audienceId, path);
    const { file, uploaded_devices, unique_devices } = await audiences.settled(audienceId, 250);
    const errors = await errorsAt(apiClient(market.service.url, partner.apiKey), `${audiencePath}/${audienceId}`);
    const results = file.map(({ s3_path, status, rows_uploaded: rows }): [string, FileResult] => [
      s3_path.slice(`${partner.prefix}all/`.length),
      { status, rows, codes: codesOf(errors.get(s3_path) ?? []) },
    ]);
    return { results: Object.fromEntries(results), counts: [uploaded_devices, unique_devices] };
  };

  it('the corpus gets the same results in an audience created from a prefix as in an audience with single files appended', async () => {
    // Splits the corpus among several partners, because their jobs run in parallel.
    const partners = await Promise.all(Array.from({ length: 8 }, () => createPartner(market.stores.environment)));
    const found = await Promise.all(
      partners.map(async (partner, index) => {
        const files = chosen.filter((_, place) => place % partners.length === index);
        await Promise.all(files.map(({ path, body }) => partner.upload(`all/${path}`, body())));
        const names = files.map(({ path }) => `all/${path}`);
        return {
          files,
          together: await loadAudience(partner, 'together', ['all/']),
          alone: await loadAudience(partner, 'alone', names),
        };
      }),
    );
    for (const { files, together, alone } of found) {
      expect(Object.keys(alone.results).toSorted()).toEqual(files.map(({ path }) => path).toSorted());
      expect(together).toEqual(alone);
    }
    // `inlet check` has access only to the files and must report the same results.
    const reported = Object.fromEntries(
      found.flatMap(({ alone }) =>
        Object.entries(alone.results).map(([path, { status, codes }]) => [path, { status, codes }]),
      ),
    );
    expect(await checkAsAudience(chosen)).toEqual(reported);
    // The files cover both outcomes. Some files load, and every failure code occurs.
    const all = found.flatMap(({ alone }) => Object.values(alone.results));
    expect(all.filter(({ status }) => status === 2).length).toBeGreaterThan(2);
    for (const code of ['bad_rows', 'no_good_row', 'empty_file', 'wrong_shape', 'wrong_encoding', 'corrupt_gzip']) {
      expect(all.filter(({ codes }) => codes.includes(`${code} file 1`)).length, code).toBeGreaterThan(0);
    }
  });
});
