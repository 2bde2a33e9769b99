import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Engine, closeEngine, onEveryShard } from '../../src/adapters/clickhouse/connect.ts';
import { clickhouseLoadStage } from '../../src/adapters/clickhouse/load-stage.ts';
import { clickhouseWarehouse } from '../../src/adapters/clickhouse/warehouse.ts';
import { versionsOfJob } from '../../src/domain/job.ts';
import { defaultLimits } from '../../src/domain/limits.ts';
import type { Load, LoadStage } from '../../src/ports/load-stage.ts';
import type { Warehouse } from '../../src/ports/warehouse.ts';
import { assertInLanes, campaignSeed, runsOf } from '../support/campaign.ts';
import { device } from '../support/device-id.ts';
import { attributeLoad, streamedFile } from '../support/staging.ts';
import { type TestStores, createStores } from '../support/stores.ts';
import { connectTestEngine } from '../support/test-engine.ts';
import { type ModelJob, type ModelRow, applyJob } from '../support/warehouse-model.ts';
import { waitUntil } from '../support/wait-until.ts';

// Runs random sequences of one partner's jobs on the warehouse, as the use cases do, and compares the result with a
// small model.

const jobId = 1;
const runs = runsOf({ short: 15, long: 250 });
const lanes = 4;

// Every sequence has its own three attributes, so that sequences can share partners without sharing rows. Shrinking
// runs additional sequences.
const attributes = [1, 2, 3];
const attributeOf = (sequence: number, attribute: number): number => sequence * 10 + attribute;
const allAttributes = Array.from({ length: runs + 500 }, (_, n) => attributes.map((id) => attributeOf(n, id))).flat();

const attribute = fc.constantFrom(...attributes);
const row: fc.Arbitrary<ModelRow> = fc.record({
  device: fc.integer({ min: 0, max: 9 }).map(device),
  isDelete: fc.boolean(),
  attributes: fc.uniqueArray(attribute, { minLength: 1, maxLength: 2 }),
});
const files = fc.array(fc.array(row, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 2 });
const arbitraryJob: fc.Arbitrary<ModelJob> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('merge' as const), files }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('replace' as const), files }) },
  fc.record({ kind: fc.constant('delete' as const), attributes: fc.uniqueArray(attribute, { minLength: 1 }) }),
);

function ofSequence(job: ModelJob, sequence: number): ModelJob {
  const own = (ids: readonly number[]): number[] => ids.map((id) => attributeOf(sequence, id));
  if (job.kind === 'delete') return { ...job, attributes: own(job.attributes) };
  return {
    ...job,
    files: job.files.map((rows) => rows.map((line) => ({ ...line, attributes: own(line.attributes) }))),
  };
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
    // Every job uses the same keys, so one list is enough.
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
      const rows = { partnerId, attributeIds: toDo.attributes, versions };
      return waitUntil('the rows are deleted', () => warehouse.deleteAttributeRows(rows));
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

  it(`matches a small model for ${runs} sequences with the seed ${campaignSeed}`, { timeout: 900_000 }, async () => {
    const idle = Array.from({ length: lanes }, (_, n) => ({ partnerId: 1_000 + n, seq: 0 }));
    let nextSequence = 0;
    const passed = await assertInLanes(
      fc.array(arbitraryJob, { minLength: 1, maxLength: 4 }),
      { runs, lanes },
      async (jobs) => {
        const sequence = nextSequence++;
        const partner = idle.pop();
        if (!partner) throw new Error('more lanes than partners');
        const model = new Set<string>();
        try {
          for (const job of jobs.map((generic) => ofSequence(generic, sequence))) {
            partner.seq += 1;
            await run(partner.partnerId, partner.seq, job);
            applyJob(model, job);
          }
          expect(await stateOf(partner.partnerId, sequence)).toEqual([...model].toSorted());
        } finally {
          idle.push(partner);
        }
      },
    );
    expect(passed).toBe(runs);
  });
});
