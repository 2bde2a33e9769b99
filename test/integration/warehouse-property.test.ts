import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Engine, closeEngine, onEveryShard } from '../../src/adapters/clickhouse/connect.ts';
import { clickhouseLoadStage } from '../../src/adapters/clickhouse/load-stage.ts';
import { clickhouseWarehouse } from '../../src/adapters/clickhouse/warehouse.ts';
import { versionsOfJob } from '../../src/domain/job.ts';
import { defaultLimits } from '../../src/domain/limits.ts';
import type { Load, LoadStage } from '../../src/ports/load-stage.ts';
import type { Warehouse } from '../../src/ports/warehouse.ts';
import { device } from '../support/device-id.ts';
import { attributeLoad, streamedFile } from '../support/staging.ts';
import { type TestStores, createStores } from '../support/stores.ts';
import { connectTestEngine } from '../support/test-engine.ts';
import { type ModelJob, type ModelRow, applyJob } from '../support/warehouse-model.ts';

// Random sequences of jobs of one partner, through the warehouse as the use cases call it, against a small model.

const jobId = 1;
const sequenceCount = 500;
const lanes = 4;

// Every sequence has three attributes of its own, so that many can share a partner and still share nothing.
const attributes = [1, 2, 3];
const attributeOf = (sequence: number, attribute: number): number => sequence * 10 + attribute;
const allAttributes = Array.from({ length: sequenceCount }, (_, n) =>
  attributes.map((id) => attributeOf(n, id)),
).flat();

function arbitraryJob(sequence: number): fc.Arbitrary<ModelJob> {
  const attribute = fc.constantFrom(...attributes.map((id) => attributeOf(sequence, id)));
  const row: fc.Arbitrary<ModelRow> = fc.record({
    device: fc.integer({ min: 0, max: 9 }).map(device),
    isDelete: fc.boolean(),
    attributes: fc.uniqueArray(attribute, { minLength: 1, maxLength: 2 }),
  });
  const files = fc.array(fc.array(row, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 2 });
  return fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('merge' as const), files }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('replace' as const), files }) },
    fc.record({ kind: fc.constant('delete' as const), attributes: fc.uniqueArray(attribute, { minLength: 1 }) }),
  );
}

describe('the warehouse after any sequence of jobs', () => {
  let stores: TestStores;
  let engine: Engine;
  let warehouse: Warehouse;
  let staging: LoadStage;
  let nextId = 1;

  beforeAll(async () => {
    stores = await createStores('two');
    engine = connectTestEngine(stores);
    warehouse = clickhouseWarehouse(engine);
    staging = clickhouseLoadStage(engine, 1);
    // Every job gives its keys the same meaning here, so one list of them does for all.
    await warehouse.writeJobKeys(
      jobId,
      allAttributes.map((id) => ({ key: String(id), attributeId: id })),
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
    const file = streamedFile(load, load.loadId, lines.join(''));
    await staging.stage(load, file, defaultLimits.maxLineBytes, new AbortController().signal);
  };

  const run = async (partnerId: number, seq: number, toDo: ModelJob): Promise<void> => {
    const versions = versionsOfJob(seq);
    if (toDo.kind === 'delete') {
      return warehouse.deleteAttributeRows({ partnerId, attributeIds: toDo.attributes, versions });
    }
    const loads = toDo.files.map(() =>
      attributeLoad(nextId++, { id: jobId, partnerId, seq, isReplacing: toDo.kind === 'replace' }),
    );
    await Promise.all(loads.map((load, index) => stage(load, toDo.files[index] ?? [])));
    const loadIds = loads.map(({ loadId }) => loadId);
    if (toDo.kind === 'replace')
      await warehouse.replaceAttributes({ id: loadIds[0] ?? 0, partnerId, versions }, loadIds);
    else await Promise.all(loads.map((load) => warehouse.publish(load)));
    await staging.dropStages(loadIds);
  };

  const stateOf = async (partnerId: number, sequence: number): Promise<string[]> => {
    const ids = attributes.map((id) => attributeOf(sequence, id)).join(', ');
    const shards = await onEveryShard(engine, async (shard) => {
      const result = await shard.query({
        query: `SELECT concat(toString(attribute_id), ' ', toString(device)) AS pair FROM device_attributes_local FINAL
          WHERE partner_id = ${partnerId} AND attribute_id IN (${ids})`,
        format: 'JSONEachRow',
      });
      return (await result.json<{ pair: string }>()).map(({ pair }) => pair);
    });
    return shards.flat().toSorted();
  };

  it(
    `is what a model of thirty lines says, for ${sequenceCount} sequences on two shards`,
    { timeout: 900_000 },
    async () => {
      let nextSequence = 0;
      const lane = async (partnerId: number): Promise<void> => {
        let seq = 0;
        for (let sequence = nextSequence++; sequence < sequenceCount; sequence = nextSequence++) {
          const [jobs = []] = fc.sample(fc.array(arbitraryJob(sequence), { minLength: 1, maxLength: 4 }), 1);
          const model = new Set<string>();
          for (const toDo of jobs) {
            seq += 1;
            await run(partnerId, seq, toDo);
            applyJob(model, toDo);
          }
          expect(await stateOf(partnerId, sequence), JSON.stringify(jobs)).toEqual([...model].toSorted());
        }
      };
      await Promise.all(Array.from({ length: lanes }, (_, n) => lane(1_000 + n)));
      expect(nextSequence).toBeGreaterThanOrEqual(sequenceCount);
    },
  );
});
