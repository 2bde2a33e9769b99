import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Engine, closeEngine } from '../../src/adapters/clickhouse/connect.ts';
import { clickhouseLoadStage } from '../../src/adapters/clickhouse/load-stage.ts';
import { clickhouseWarehouse } from '../../src/adapters/clickhouse/warehouse.ts';
import { defaultLimits } from '../../src/domain/limits.ts';
import { memoryOfLoads } from '../support/memory.ts';
import { attributeLoad, streamedFile } from '../support/staging.ts';
import { type TestStores, createStores } from '../support/stores.ts';
import { connectTestEngine } from '../support/test-engine.ts';

// Every key of a row becomes a staged row, so a few bytes in a file require much more memory in ClickHouse.

const mebibyte = 1024 ** 2;
const memoryLimit = 1024 * mebibyte;

describe.each([
  { keysPerRow: 50, rows: 150_000 },
  { keysPerRow: 500, rows: 15_000 },
])('a file with $keysPerRow keys in each of its $rows rows', ({ keysPerRow, rows }) => {
  let stores: TestStores;
  let engine: Engine;
  const attributeIds = Array.from({ length: keysPerRow }, (_, index) => index + 1);

  beforeAll(async () => {
    stores = await createStores('two');
    engine = connectTestEngine(stores);
  });

  afterAll(async () => {
    await closeEngine(engine);
    await stores.drop();
  });

  it('stages the file well within the memory limit', async () => {
    const warehouse = clickhouseWarehouse(engine);
    await warehouse.writeJobKeys(
      1,
      attributeIds.map((id) => ({ key: String(id), attributeId: id })),
    );
    const keys = attributeIds.join('|');
    const bytes = Buffer.from(Array.from({ length: rows }, () => `${randomUUID()},${keys}\n`).join(''));
    const load = attributeLoad(1, { id: 1, partnerId: 1 });
    const stage = clickhouseLoadStage(engine, stores.config.INLET_ROOM_BYTES);
    const { signal } = new AbortController();
    await stage.stage(load, streamedFile(load, 1, bytes), defaultLimits.maxLineBytes, signal);
    const stagedRows = rows * keysPerRow;
    expect(await stage.countRows(load)).toEqual(
      new Map([[1, { accepted: rows, stagedRows, rejects: [], suppressed: { rows: 0, shown: 0 } }]]),
    );
    const staged = await stage.countStaged(load, [1]);
    expect(staged.reduce((sum, ofShard) => sum + ofShard, 0)).toBe(stagedRows);
    const peak = await memoryOfLoads(stores.config);
    process.stdout.write(`${keysPerRow} keys per row: peak memory ${Math.round(peak / mebibyte)} MiB\n`);
    expect(peak).toBeGreaterThan(0);
    expect(peak).toBeLessThan(0.8 * memoryLimit);
  });
});
