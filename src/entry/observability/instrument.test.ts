import { describe, expect, it } from 'vitest';
import { initialSuppressionList } from '../../domain/suppression.ts';
import { Failure } from '../../domain/failure.ts';
import type { BatchClaim, FileStore } from '../../ports/load-stage.ts';
import { meterFiles, meterPort, meterShard, meterWork } from './instrument.ts';
import { type Meters, createMeters } from './metrics.ts';

/** Returns the value of one series as Prometheus would scrape it. */
async function read({ registry }: Meters, series: string): Promise<number | undefined> {
  const line = (await registry.metrics()).split('\n').find((text) => text.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

describe('an instrumented port', () => {
  const port = {
    well: (value: number): Promise<number> => Promise.resolve(value + 1),
    badly: (thrown: Error): Promise<void> => Promise.reject(thrown),
    atOnce: (): string => 'at once',
  };
  const calls = (method: string): string =>
    `inlet_call_seconds_count{server="clickhouse",port="stage",method="${method}"}`;
  const failures = 'inlet_call_failures_total{server="clickhouse",port="stage",method="badly"}';

  it("returns the port's result and counts each call", async () => {
    const meters = createMeters();
    const metered = meterPort(meters, 'clickhouse', 'stage', port);
    expect(await metered.well(1)).toBe(2);
    expect(metered.atOnce()).toBe('at once');
    expect(await read(meters, calls('well'))).toBe(1);
    expect(await read(meters, failures)).toBe(0);
  });

  it('counts failures, except failures that the partner must fix', async () => {
    const meters = createMeters();
    const metered = meterPort(meters, 'clickhouse', 'stage', port);
    await expect(metered.badly(new Error('unavailable'))).rejects.toThrow('unavailable');
    await expect(metered.badly(new Failure('empty_file', 'The file has no bytes.'))).rejects.toThrow('empty_file');
    expect(await read(meters, calls('badly'))).toBe(2);
    expect(await read(meters, failures)).toBe(1);
  });
});

describe('an instrumented shard', () => {
  it('labels a statement with its first keyword, or with "other" if the keyword is unknown', async () => {
    const meters = createMeters();
    const shard = meterShard(meters, 1, {
      command: (_options: { query: string }): Promise<void> => Promise.resolve(),
      insert: (_options: { table: string }): Promise<void> => Promise.resolve(),
      ping: (): Promise<void> => Promise.resolve(),
    });
    await shard.command({ query: '\n  alter table t DROP PARTITION 7' });
    await shard.command({ query: 'partner_7 whatever' });
    await shard.insert({ table: 't' });
    await shard.ping();
    const count = (statement: string): string =>
      `inlet_engine_statement_seconds_count{statement="${statement}",shard="2"}`;
    expect(await read(meters, count('ALTER'))).toBe(1);
    expect(await read(meters, count('other'))).toBe(1);
    expect(await read(meters, count('INSERT'))).toBe(1);
    expect((await meters.registry.metrics()).match(/^inlet_engine_statement_seconds_count/gm)).toHaveLength(3);
  });
});

describe('instrumented files', () => {
  const claim: BatchClaim = {
    batchId: 1,
    attempt: 1,
    source: { jobId: 5, partnerId: 7, pathType: 0, filePath: 'a/' },
    load: {
      loadId: 9,
      jobId: 5,
      partnerId: 7,
      target: { kind: 'audience', audienceId: 3, generation: 0 },
      bytes: 60,
      suppression: initialSuppressionList,
    },
    files: [1, 2, 3].map((fileId) => ({
      fileId,
      object: { key: `k${fileId}`, etag: 'e', size: 10 * fileId },
      expectGzip: null,
    })),
    badRowShare: 1,
    unhyphenatedIds: false,
    previousLoadId: null,
  };
  const rejects = [{ reason: 'zero_id', rows: 4, firstRow: 2 }] as const;
  const filesThat = (committed: boolean): FileStore => ({
    claim: () => Promise.resolve(claim),
    recordProgress: () => Promise.resolve(true),
    commit: () => Promise.resolve(committed),
    findLive: () => Promise.resolve({ loadIds: new Set(), jobIds: new Set() }),
  });
  const commit = (files: FileStore): Promise<boolean> =>
    files.commit(
      claim,
      [
        { is: 'staged', fileId: 1, counts: { accepted: 100, rejects } },
        { is: 'failed', fileId: 2, counts: { accepted: 0, rejects }, failure: new Failure('load_abandoned', 'x') },
        { is: 'alone', fileId: 3 },
      ],
      [100],
    );

  it('counts rows, bytes, files, and rejected rows on commit', async () => {
    const meters = createMeters();
    expect(await commit(meterFiles(meters, filesThat(true)))).toBe(true);
    expect(await read(meters, 'inlet_rows_loaded_total{target="audience"}')).toBe(100);
    expect(await read(meters, 'inlet_bytes_loaded_total{target="audience"}')).toBe(10);
    expect(await read(meters, 'inlet_files_loaded_total{target="audience"}')).toBe(1);
    expect(await read(meters, 'inlet_rows_rejected_total{reason="zero_id"}')).toBe(8);
    expect(await read(meters, 'inlet_files_failed_total{code="load_abandoned"}')).toBe(1);
  });

  it('counts nothing for an attempt that lost its claim', async () => {
    const meters = createMeters();
    expect(await commit(meterFiles(meters, filesThat(false)))).toBe(false);
    expect(await read(meters, 'inlet_rows_loaded_total{target="audience"}')).toBe(0);
    expect(await read(meters, 'inlet_files_failed_total{code="load_abandoned"}')).toBe(0);
  });
});

describe('instrumented work', () => {
  it('counts work as busy until it ends or fails', async () => {
    const meters = createMeters();
    const { promise, reject } = Promise.withResolvers<void>();
    const work = meterWork(meters, { runLane: (): Promise<void> => promise });
    const busy = 'inlet_worker_busy{work="runLane"}';
    expect(await read(meters, busy)).toBe(0);
    const running = work.runLane();
    expect(await read(meters, busy)).toBe(1);
    reject(new Error('unavailable'));
    await expect(running).rejects.toThrow('unavailable');
    expect(await read(meters, busy)).toBe(0);
    expect(await read(meters, 'inlet_work_seconds_count{work="runLane"}')).toBe(1);
  });
});
