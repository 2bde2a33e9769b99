import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { packedRows, rows } from '../support/file-rows.ts';
import { device } from '../support/device-id.ts';
import { startProxy, type Proxy } from '../support/proxy.ts';
import { startAudiences, type Audiences } from '../support/start-audiences.ts';
import { waitUntil } from '../support/wait-until.ts';
import { readAddresses } from '../../stack/addresses.ts';

// The worker loads one file at a time, and a large file takes seconds, so that the test can observe every status.

describe('audience status', () => {
  let market: Audiences;
  let storage: Proxy;
  let large: Buffer;

  beforeAll(async () => {
    storage = await startProxy(readAddresses().s3.endpoint);
    market = await startAudiences('audience-status', {
      INLET_WORKER_FILES: '1',
      INLET_S3_ENDPOINT: storage.address,
    });
    large = await packedRows(600_000);
    for (const path of ['mixed/large-1.csv.gz', 'mixed/large-2.csv.gz', 'busy.csv.gz']) {
      await market.partner.upload(path, large);
    }
    for (const n of [0, 1]) await market.partner.upload(`mixed/${n}.csv`, rows(0, 5));
    await market.partner.upload('mixed/bad.csv', 'nonsense,\n');
    await market.partner.upload('small.csv', rows(0, 5));
  });
  afterAll(async () => {
    await market.stop();
    await storage.close();
  });
  afterEach(() => storage.make({ is: 'none' }));
  const slowDown = (): void => storage.make({ is: 'slow', bytesPerSecond: large.length / 4 });

  /**
   * Polls an audience until all its files are loaded or failed. Returns every observed state in order. A state contains
   * the audience's status and the statuses of its files.
   */
  const watch = async (audienceId: number, afterFirstPoll: () => void = () => undefined): Promise<string[]> => {
    const seen: string[] = [];
    await waitUntil('the audience is settled', async () => {
      const { status, file } = await market.audiences.get(audienceId);
      const state = `${status}: ${file.map((entry) => entry.status).join('')}`;
      if (seen.length === 0) afterFirstPoll();
      if (seen.at(-1) !== state) seen.push(state);
      return status >= 2;
    });
    return seen;
  };

  it('the audience status changes from 0 to 1 while files wait and load, and to 3 when a file fails', async () => {
    storage.make({ is: 'stalled' });
    const { audienceId } = await market.audiences.create('Mixed', 'mixed/');
    const seen = await watch(audienceId, slowDown);
    // Files load in ID order. The small files load together, before the large files.
    expect(seen.at(0)).toBe('0: 0');
    expect(seen.at(-1)).toBe('3: 22322');
    expect(seen).toContain('1: 22310');
    expect(seen.slice(1, -1).filter((state) => !/^[01]: /.test(state))).toEqual([]);
    expect(seen.filter((state) => /^0: .*[123]/.test(state))).toEqual([]);
    const steps = seen.map((state) => state.slice(3)).filter((files) => files.length === 5);
    for (let n = 0; n < 5; n++) {
      const statuses = steps.map((files) => Number(files[n]));
      expect(statuses).toEqual(statuses.toSorted((a, b) => a - b));
    }
    const details = await market.audiences.get(audienceId);
    expect(details).toMatchObject({ uploaded_devices: 1_200_010, unique_devices: 600_000, matched_devices: 0 });
    expect(details.file.map(({ rows_uploaded }) => rows_uploaded)).toEqual([5, 5, 0, 600_000, 600_000]);
  });

  it('the status is 0 for a new waiting audience, 1 for a waiting audience with loaded files, and 2 after a clear', async () => {
    const loaded = await market.audiences.create('Loaded', 'small.csv');
    expect(await watch(loaded.audienceId)).toContain('2: 2');
    storage.make({ is: 'stalled' });
    await market.audiences.create('Busy', 'busy.csv.gz');
    const fresh = await market.audiences.create('Fresh', 'small.csv');
    await market.audiences.append(loaded.audienceId, 'mixed/0.csv');
    const statuses = async (): Promise<unknown[]> =>
      (await market.audiences.list('?limit=3')).map(({ name, status }) => [name, status]);
    expect(await statuses()).toContainEqual(['Fresh', 0]);
    expect(await statuses()).toContainEqual(['Loaded', 1]);
    const waiting = await market.audiences.get(loaded.audienceId);
    expect(waiting.file.map(({ s3_path, status }) => [s3_path, status])).toEqual([
      [`${market.partner.prefix}small.csv`, 2],
      [`${market.partner.prefix}mixed/0.csv`, 0],
    ]);
    expect(waiting.unique_devices).toBe(5);
    await market.audiences.clear(loaded.audienceId);
    expect(await statuses()).toContainEqual(['Loaded', 2]);
    storage.make({ is: 'none' });
    expect((await watch(fresh.audienceId)).at(-1)).toBe('2: 2');
    expect(await market.audiences.get(loaded.audienceId)).toMatchObject({ status: 2, file: [], unique_devices: 0 });
  });

  it('statuses of imports and audiences change in submission order', async () => {
    await market.partner.createAttribute('sport', 'sport');
    const known = (from: number): string =>
      Array.from({ length: 10 }, (_, n) => `${device(900_000 + from + n)},sport\n`).join('');
    await market.partner.upload('before.csv', known(0));
    await market.partner.upload('between.csv', known(10));
    await market.partner.upload('order.csv', rows(900_000, 900_030));
    const before = await market.api.queue({ file_path: 'before.csv', key_type: 1 });
    const first = await market.audiences.create('First', 'order.csv');
    const between = await market.api.queue({ file_path: 'between.csv', key_type: 1 });
    const second = await market.audiences.create('Second', 'order.csv');
    const statusReads = [
      async () => (await market.api.get(before)).status,
      async () => (await market.audiences.get(first.audienceId)).status,
      async () => (await market.api.get(between)).status,
      async () => (await market.audiences.get(second.audienceId)).status,
    ];
    const seen: string[] = [];
    await waitUntil('all have ended', async () => {
      // Reads the last job first. If it has ended, every earlier job must have ended too.
      const ended: boolean[] = [];
      for (const readStatus of statusReads.toReversed()) ended.unshift((await readStatus()) >= 2);
      seen.push(ended.map((has) => (has ? 'x' : '-')).join(''));
      return ended.every((has) => has);
    });
    expect(seen.filter((state) => !/^x*-*$/.test(state))).toEqual([]);
    // Each audience matches exactly the devices of the imports that were submitted before it.
    expect(await market.audiences.get(first.audienceId)).toMatchObject({ unique_devices: 30, matched_devices: 10 });
    expect(await market.audiences.get(second.audienceId)).toMatchObject({ unique_devices: 30, matched_devices: 20 });
  });
});
