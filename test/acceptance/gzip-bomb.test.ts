import type { ImportLogRecord } from '../../src/adapters/http/records/import-log.ts';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { readAddresses } from '../../stack/addresses.ts';
import { goodRows, two } from '../corpus/lines.ts';
import { gzipBomb } from '../support/gzip-bomb.ts';
import { memoryOfLoads, memoryOfProcess } from '../support/memory.ts';
import { startMarketplace, type Marketplace } from '../support/start-marketplace.ts';
import { waitUntil } from '../support/wait-until.ts';

const gibibyte = 1024 ** 3;
const mebibyte = 1024 ** 2;
const inLongRun = inject('campaign') === 'long';
const unpackedGibibytes = inLongRun ? 10 : 1;
const unpackedBytes = unpackedGibibytes * gibibyte;

const shardPids = readAddresses().clickhouse.shards.map(({ pid }) => pid);
const memoryOfShards = (): number[] => shardPids.map((pid) => memoryOfProcess(pid).now);

/**
 * The peak memory of one statement, the memory growth of a shard's process, and the peak memory of the worker, in
 * bytes.
 */
type Memory = { readonly statement: number; readonly shardGrowth: number; readonly worker: number };

describe(`a small gzip file that decompresses to ${unpackedGibibytes} GiB`, { timeout: 120_000 }, () => {
  let market: Marketplace;

  afterEach(() => market.stop());

  type Ended = { readonly codes: readonly unknown[]; readonly good: ImportLogRecord; readonly memory: Memory };

  /** Starts the service, queues the bombs followed by a valid file, and samples memory until all jobs have ended. */
  async function explode(
    label: string,
    bombs: readonly Buffer[],
    settings: Record<string, string> = {},
  ): Promise<Ended> {
    market = await startMarketplace(label, settings);
    const { partner, api, service, stores } = market;
    await partner.createAttribute('sport', 'sport');
    for (const [index, bomb] of bombs.entries()) await partner.upload(`bomb-${index}.csv.gz`, bomb);
    await partner.upload('good.csv', goodRows(100));
    const before = memoryOfShards();
    let shardGrowth = 0;
    const start = performance.now();
    const ids: number[] = [];
    for (const index of bombs.keys()) ids.push(await api.queue({ file_path: `bomb-${index}.csv.gz`, key_type: 1 }));
    const goodId = await api.queue({ file_path: 'good.csv', key_type: 1 });
    const sampleMemory = async (): Promise<boolean> => {
      shardGrowth = Math.max(shardGrowth, ...memoryOfShards().map((now, index) => now - (before[index] ?? 0)));
      return (await api.get(goodId)).status >= 2;
    };
    await waitUntil('the valid file after the bombs has ended', sampleMemory, 100);
    const seconds = (performance.now() - start) / 1000;
    const worker = memoryOfProcess(service.worker.pid ?? 0).most;
    const memory = { statement: await memoryOfLoads(stores.config), shardGrowth, worker };
    const figures = Object.entries(memory).map(([name, bytes]) => `${name} ${Math.round(bytes / mebibyte)} MiB`);
    process.stdout.write(`${label}: ${seconds.toFixed(1)} s, ${figures.join(', ')}\n`);
    const logs = await Promise.all(ids.map((id) => api.get(id)));
    for (const log of logs) expect(log).toMatchObject({ status: 3, total_rows: '0', unique_devices: '0' });
    return { codes: logs.map(({ errors }) => errors?.map(({ code }) => code)), good: await api.get(goodId), memory };
  }

  function expectGoodFileAndBounds({ good, memory }: Ended): void {
    expect(good).toMatchObject({ status: 2, total_rows: '100', unique_devices: '100', errors: null });
    expect(memory.statement).toBeGreaterThan(0);
    expect(memory.statement).toBeLessThanOrEqual(1.1 * gibibyte);
    expect(memory.shardGrowth).toBeLessThanOrEqual(3 * gibibyte); // The shards also serve other tests.
    expect(memory.worker).toBeLessThanOrEqual(400 * mebibyte);
  }

  it('rejects a gzip bomb of zeros, alone or after a valid row, and loads the next file', async () => {
    const zeros = gzipBomb('\0', unpackedBytes);
    const behindRow = Buffer.concat([gzipSync(`${two(1)}\n${two(2)}`), zeros]);
    const ended = await explode('bomb-of-one-line', [zeros, behindRow]);
    // A file of zeros has no columns, which is evident from its first bytes.
    expect(ended.codes).toEqual([['wrong_shape'], ['line_out_of_bounds']]);
    expectGoodFileAndBounds(ended);
  });

  it('rejects a gzip bomb of short lines at the file size limit and loads the next file', async () => {
    const bomb = gzipBomb(`${two(1)}\n`, unpackedBytes);
    const ended = await explode('bomb-of-short-lines', [bomb], { INLET_MAX_PLAIN_FILE_BYTES: '200000000' });
    expect(ended.codes).toEqual([['unpacked_too_large']]);
    expectGoodFileAndBounds(ended);
  });

  it.runIf(inLongRun)('rejects a gzip bomb of blank lines at the file size limit and loads the next file', async () => {
    const bomb = gzipBomb('\n', unpackedBytes);
    const ended = await explode('bomb-of-blank-lines', [bomb], { INLET_MAX_PLAIN_FILE_BYTES: '20000000' });
    expect(ended.codes).toEqual([['unpacked_too_large']]);
    expectGoodFileAndBounds(ended);
  });
});
