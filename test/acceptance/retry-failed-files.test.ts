import { beforeAll, describe, expect, it } from 'vitest';
import { importFileListSchema, queuedSchema } from '../../src/adapters/http/records/import-log.ts';
import { problemSchema } from '../../src/adapters/http/records/problem.ts';
import { device } from '../support/device-id.ts';
import { rows } from '../support/file-rows.ts';
import { attributesOf } from '../support/shard-tables.ts';
import { type Audiences, joinAudiences } from '../support/start-audiences.ts';
import { readProblem } from './api-client.ts';
import { audiencePath } from './audience-client.ts';

const path = '/v1/marketplace/import';

describe('retrying only the failed files', () => {
  let market: Audiences;
  let attribute: number;

  beforeAll(async () => {
    market = await joinAudiences();
    attribute = await market.partner.createAttribute('sport', 'sport');
  });

  const retry = (id: number, body: object): Promise<Response> =>
    market.api.request(`${path}/${id}/retry`, { method: 'POST', body: JSON.stringify(body) });
  const retried = async (id: number): Promise<number> => {
    const answer = await retry(id, { files: 'failed' });
    expect(answer.status).toBe(202);
    return queuedSchema.parse(await answer.json()).import_log_id;
  };
  const refusal = async (id: number, body: object): Promise<string> => {
    const answer = await retry(id, body);
    expect(answer.status).toBe(422);
    const problem = problemSchema.parse(await readProblem(answer));
    expect(problem.code).toBe('import_not_retryable');
    return problem.detail;
  };
  const filesOf = async (id: number): Promise<string[]> => {
    const files = importFileListSchema.parse(await (await market.api.request(`${path}/${id}/files`)).json());
    return files.map(({ file, status }) => `${file} ${status}`);
  };
  const row = (n: number): string => `${device(n)},sport\n`;
  const visible = async (): Promise<string[]> => attributesOf(market.stores, market.partner.id);
  const of = (...numbers: number[]): string[] => numbers.map((n) => `${attribute} ${device(n)}`).toSorted();

  it('imports the current versions of the failed files, but no new files and no files that were loaded', async () => {
    const { partner, api } = market;
    await partner.upload('in/1.csv', row(1));
    await partner.upload('in/2.csv', 'nonsense\n');
    await partner.upload('in/3.csv', 'nonsense\n');
    const first = await api.queue({ file_path: 'in/', key_type: 1, compressed: false });
    expect(await api.waitForEnd(first)).toMatchObject({ status: 3 });
    expect(await filesOf(first)).toEqual(['in/1.csv 2', 'in/2.csv 3', 'in/3.csv 3']);
    await partner.upload('in/2.csv', row(2));
    await partner.upload('in/4.csv', row(4));
    const second = await retried(first);
    expect(await api.waitForEnd(second)).toMatchObject({ status: 3, retry_of: first, file_path: 'in/' });
    expect(await filesOf(second)).toEqual(['in/2.csv 2', 'in/3.csv 3']);
    expect(await visible()).toEqual(of(1, 2));
    await partner.upload('in/3.csv', row(3));
    const third = await retried(second);
    expect(await api.waitForEnd(third)).toMatchObject({ status: 2, retry_of: second, total_rows: '1' });
    expect(await filesOf(third)).toEqual(['in/3.csv 2']);
    expect(await visible()).toEqual(of(1, 2, 3));
    expect(await refusal(third, { files: 'failed' })).toContain('is done');
  });

  it('fails for a file that was deleted in the meantime', async () => {
    const { partner, api } = market;
    await partner.upload('gone/1.csv', 'nonsense\n');
    await partner.upload('gone/2.csv', 'nonsense\n');
    const first = await api.queue({ file_path: 'gone/', key_type: 1, compressed: false });
    await api.waitForEnd(first);
    await partner.upload('gone/1.csv', row(5));
    await partner.remove('gone/2.csv');
    const second = await retried(first);
    expect(await api.waitForEnd(second)).toMatchObject({ status: 3 });
    expect(await filesOf(second)).toEqual(['gone/1.csv 2', 'gone/2.csv 3']);
    const errors = (await api.get(second)).errors ?? [];
    expect(errors.map(({ code }) => code)).toContain('file_changed');
  });

  it('lists the path again if the files of the import were never listed', async () => {
    const { partner, api } = market;
    const first = await api.queue({ file_path: 'later/', key_type: 1, compressed: false });
    expect(await api.waitForEnd(first)).toMatchObject({ status: 3, errors: [{ code: 'no_files' }] });
    await partner.upload('later/1.csv', row(6));
    expect(await api.waitForEnd(await retried(first))).toMatchObject({ status: 2, total_rows: '1' });
  });

  it('rejects a retry of the failed files of a replacing import, because the data of the other files would be lost', async () => {
    const { partner, api } = market;
    await partner.upload('swap/1.csv', row(7));
    await partner.upload('swap/2.csv', 'nonsense\n');
    const id = await api.queue({ file_path: 'swap/', key_type: 1, compressed: false, mode: 'replace' });
    expect(await api.waitForEnd(id)).toMatchObject({ status: 3 });
    expect(await refusal(id, { files: 'failed' })).toContain('needs all of its files');
    await partner.upload('swap/2.csv', row(8));
    const again = queuedSchema.parse(await (await retry(id, {})).json()).import_log_id;
    expect(await api.waitForEnd(again)).toMatchObject({ status: 2 });
    expect(await visible()).toEqual(of(7, 8));
  });

  it('rejects an unknown choice of files', async () => {
    const answer = await retry(1, { files: 'some' });
    expect(answer.status).toBe(400);
    expect(problemSchema.parse(await readProblem(answer)).errors).toMatchObject([{ pointer: '/files' }]);
  });

  it("loads only an append's failed files, except those that were dismissed or loaded later", async () => {
    const { partner, audiences } = market;
    await partner.upload('set/1.csv', rows(0, 2));
    for (const n of [2, 3, 4]) await partner.upload(`set/${n}.csv`, 'nonsense,\n');
    const { audienceId } = await audiences.create('Set', 'set/');
    const { file } = await audiences.settled(audienceId);
    expect(file.map(({ status }) => status)).toEqual([2, 3, 3, 3]);
    const [{ append_id: appendId } = { append_id: 0 }] = file;
    await partner.upload('set/2.csv', rows(2, 4));
    await partner.upload('set/3.csv', rows(4, 6));
    await partner.upload('set/5.csv', rows(6, 8));
    await audiences.append(audienceId, 'set/3.csv');
    await audiences.settled(audienceId);
    await audiences.dismiss(audienceId, file.find(({ s3_path }) => s3_path.endsWith('4.csv'))?.file_id ?? '');
    const id = await audiences.retry(audienceId, appendId, 'failed');
    expect(await audiences.settled(audienceId)).toMatchObject({ status: 2, unique_devices: 6 });
    const [newest] = await audiences.history(audienceId);
    expect(newest).toMatchObject({
      type: 'append',
      append: { append_id: id, retry_of: appendId, file_path: 'set/', files: { all: 1, loaded: 1, failed: 0 } },
    });
    const one = `${audiencePath}/${audienceId}/appends/${appendId}/retry`;
    expect(await audiences.expectProblem('POST', one, { files: 'failed' })).toMatchObject({
      status: 422,
      code: 'append_not_retryable',
      detail: `Append ${appendId} has no failed files left to retry.`,
    });
    // Every file under the path is loaded, and only one of them is new.
    await audiences.retry(audienceId, appendId);
    expect(await audiences.settled(audienceId)).toMatchObject({ unique_devices: 8 });
  });
});
