import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { dryRunSchema } from '../../src/adapters/http/records/dry-run.ts';
import { type Problem, problemSchema } from '../../src/adapters/http/records/problem.ts';
import { corpusFiles } from '../corpus/corpus-files.ts';
import { corpusAttributes } from '../corpus/lines.ts';
import { device } from '../support/device-id.ts';
import { createOwnBucket } from '../support/own-bucket.ts';
import { type Marketplace, joinMarketplace } from '../support/start-marketplace.ts';
import { readProblem } from './api-client.ts';

type DryRun = z.infer<typeof dryRunSchema>;

describe('a dry run of an import', { timeout: 120_000 }, () => {
  let market: Marketplace;
  beforeAll(async () => {
    market = await joinMarketplace();
    for (const [name, foreignKeys] of Object.entries(corpusAttributes))
      await market.partner.createAttribute(name, ...foreignKeys);
    await market.partner.createAttribute('dry run', 'dry-run');
  });
  afterAll(() => market.stop());

  const post = (body: object): Promise<Response> =>
    market.api.request('/v1/marketplace/import/dry-run', { method: 'POST', body: JSON.stringify(body) });
  const dryRun = async (body: object): Promise<DryRun> => {
    const answer = await post({ key_type: 1, ...body });
    expect(answer.status).toBe(200);
    return dryRunSchema.strict().parse(await answer.json());
  };
  const problemOf = async (body: object): Promise<Problem> => problemSchema.parse(await readProblem(await post(body)));

  it.each(corpusFiles)('agrees with the import of $path ($name)', async ({ path, body, request, expected }) => {
    await market.partner.upload(path, body());
    const { files, ...job } = await dryRun({ file_path: path, ...request });
    expect(job).toEqual({ files_total: 1, bytes_total: body().length, error: null });
    const [file] = files;
    if (!file) throw new Error('the file was not sampled');
    const codes = [
      ...(file.error ? [{ code: file.error.code, row: null, count: 1 }] : []),
      ...file.reasons.map(({ code, row, count }) => ({ code, row, count })),
    ];
    const total_rows = file.accepted_rows + file.rejected_rows;
    const found = { status: file.error ? 3 : 2, total_rows, codes };
    const { unique_devices: _devices, ...whole } = expected;
    // A sample that does not contain the whole file covers only the first rows.
    const covered = {
      status: 2,
      total_rows,
      codes: codes.map(({ code, count }) => ({ code, row: expected.codes.find((of) => of.code === code)?.row, count })),
    };
    expect(found).toEqual(file.complete || file.error ? whole : covered);
  });

  it('samples the first 1,000 lines of each of the first 20 files and queues nothing', async () => {
    const rows = Array.from({ length: 3_000 }, (_, n) => `${n % 10 === 0 ? 'nonsense' : device(n)},dry-run\n`).join('');
    for (let n = 10; n < 35; n += 1) await market.partner.upload(`many/${n}.csv`, rows);
    const before = await market.api.list();
    const found = await dryRun({ file_path: 'many/', compressed: false });
    expect(found).toMatchObject({ files_total: 25, bytes_total: 25 * rows.length, error: null });
    expect(found.files).toHaveLength(20);
    expect(found.files[0]).toEqual({
      file: 'many/10.csv',
      bytes: rows.length,
      compressed: false,
      columns: ['id', 'keys'],
      delimiter: ',',
      header_row: null,
      accepted_rows: 900,
      rejected_rows: 100,
      complete: false,
      reasons: [
        { code: 'invalid_id', message: expect.stringContaining('') as unknown, column: 'id', row: 1, count: 100 },
      ],
      error: null,
    });
    expect(await market.api.list()).toEqual(before);
  });

  it('reports an error that would make the whole import fail', async () => {
    expect((await dryRun({ file_path: 'missing.csv' })).error?.code).toBe('no_files');
    const invalid = await problemOf({ file_path: 'many/', key_type: 1 });
    expect(invalid).toMatchObject({ status: 400, code: 'compressed_required' });
    expect(await problemOf({ file_path: '../other/a.csv', key_type: 1 })).toMatchObject({ code: 'invalid_file_path' });
  });

  it("reads a partner's own bucket with the credentials of the request and never another address", async () => {
    const own = await createOwnBucket();
    await own.upload('in/day.csv', `${device(1)},dry-run\nnonsense,dry-run\n`);
    const request = { file_path: `s3://${own.bucket}/in/day.csv`, path_type: 1, credentials: own.credentials };
    const found = await dryRun(request);
    expect(found.files).toMatchObject([{ file: 'in/day.csv', accepted_rows: 1, rejected_rows: 1, complete: true }]);
    const wrong = { ...own.credentials, secretAccessKey: 'x'.repeat(40) };
    expect((await dryRun({ ...request, credentials: wrong })).error?.code).toBe('storage_credentials_rejected');
    expect((await problemOf({ ...request, credentials: undefined, key_type: 1 })).code).toBe('credentials_required');
    const invalid = { ...request, key_type: 1, file_path: 's3://169.254.169.254/latest' };
    expect((await problemOf(invalid)).code).toBe('invalid_file_path');
    const foreign = await dryRun({ ...request, file_path: `s3://${market.partner.bucket}/a.csv` });
    expect(foreign.error?.code).toBe('storage_access_denied');
  });
});
