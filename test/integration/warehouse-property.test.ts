import * as fc from 'fast-check';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeEngine, connectEngine, onEveryShard, type Engine } from '../../src/adapters/clickhouse/connect.ts';
import { clickhouseWarehouse } from '../../src/adapters/clickhouse/warehouse.ts';
import { versionsOfJob } from '../../src/domain/device-version.ts';
import { defaultLimits } from '../../src/domain/limits.ts';
import { sniffLayout } from '../../src/domain/sniff-layout.ts';
import type { Load, Warehouse } from '../../src/ports/warehouse.ts';
import { createStores, type TestStores } from '../support/stores.ts';
import { applyJob, type ModelJob, type ModelRow } from '../support/warehouse-model.ts';

// Random sequences of jobs of one partner, through the warehouse as the use cases call it, against a small model.

const jobId = 1;
const attributes = [1, 2, 3];
const device = (n: number): string => `6d92078a-8246-4ba4-ae5b-${n.toString(16).padStart(12, '0')}`;

const row: fc.Arbitrary<ModelRow> = fc.record({
  device: fc.integer({ min: 0, max: 9 }).map(device),
  isDelete: fc.boolean(),
  attributes: fc.uniqueArray(fc.constantFrom(...attributes), { minLength: 1, maxLength: 2 }),
});
const files = fc.array(fc.array(row, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 2 });
const job: fc.Arbitrary<ModelJob> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('merge' as const), files }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('replace' as const), files }) },
  fc.record({
    kind: fc.constant('delete' as const),
    attributes: fc.uniqueArray(fc.constantFrom(...attributes), { minLength: 1 }),
  }),
);

describe('the warehouse after any sequence of jobs', () => {
  let stores: TestStores;
  let engine: Engine;
  let warehouse: Warehouse;
  let nextId = 1;

  beforeAll(async () => {
    stores = await createStores('two');
    engine = connectEngine({
      urls: stores.config.INLET_CLICKHOUSE_URLS,
      database: stores.database,
      cluster: stores.config.INLET_CLICKHOUSE_CLUSTER,
      name: 'test',
    });
    warehouse = clickhouseWarehouse(engine);
    // Every job gives its keys the same meaning here, so one list of them does for all.
    await warehouse.writeJobKeys(
      jobId,
      attributes.map((id) => ({ key: String(id), attributeId: id })),
    );
  });

  afterAll(async () => {
    await closeEngine(engine);
    await stores.drop();
  });

  const stage = async (load: Load, rows: readonly ModelRow[]): Promise<void> => {
    const lines = rows.map(
      ({ device: id, isDelete, attributes: keys }) => `${id},1,DE,${Number(isDelete)},${keys.join('|')}\n`,
    );
    const bytes = Buffer.from(lines.join(''));
    const source = {
      body: Readable.from([bytes]),
      isGzip: false,
      layout: sniffLayout(bytes),
      maxLineBytes: defaultLimits.maxLineBytes,
    };
    await warehouse.stage(load, source, new AbortController().signal);
  };

  const run = async (partnerId: number, seq: number, toDo: ModelJob): Promise<void> => {
    const versions = versionsOfJob(seq);
    if (toDo.kind === 'delete') {
      return warehouse.deleteAttributeRows({ partnerId, attributeIds: toDo.attributes, versions });
    }
    const loads = toDo.files.map((): Load => ({ loadId: nextId++, fileId: nextId++, jobId, partnerId, versions }));
    await Promise.all(loads.map((load, index) => stage(load, toDo.files[index] ?? [])));
    const loadIds = loads.map(({ loadId }) => loadId);
    if (toDo.kind === 'replace')
      await warehouse.replaceAttributes({ id: loadIds[0] ?? 0, partnerId, versions }, loadIds);
    else await Promise.all(loads.map((load) => warehouse.publish(load)));
    await Promise.all(loadIds.map((id) => warehouse.dropStage(id)));
  };

  const stateOf = async (partnerId: number): Promise<string[]> => {
    const shards = await onEveryShard(engine, async (shard) => {
      const result = await shard.query({
        query: `SELECT concat(toString(attribute_id), ' ', toString(device)) AS pair FROM device_attributes_local FINAL
          WHERE partner_id = ${partnerId}`,
        format: 'JSONEachRow',
      });
      return (await result.json<{ pair: string }>()).map(({ pair }) => pair);
    });
    return shards.flat().toSorted();
  };

  it('is what a model of thirty lines says, for 500 sequences on two shards', { timeout: 600_000 }, async () => {
    // Every sequence is a partner of its own, so that many can run at once and share nothing.
    let partnerId = 1_000;
    const sequences = fc.sample(fc.array(job, { minLength: 1, maxLength: 4 }), { numRuns: 500, seed: Date.now() });
    const queue = sequences.map((jobs) => ({ jobs, partnerId: partnerId++ }));
    const worker = async (): Promise<void> => {
      for (let next = queue.pop(); next; next = queue.pop()) {
        const model = new Set<string>();
        for (const [index, toDo] of next.jobs.entries()) {
          await run(next.partnerId, index + 1, toDo);
          applyJob(model, toDo);
        }
        expect(await stateOf(next.partnerId), JSON.stringify(next.jobs)).toEqual([...model].toSorted());
      }
    };
    await Promise.all(Array.from({ length: 6 }, worker));
    expect(partnerId).toBe(1_500);
  });
});
