import type { ResolvedKey } from '../../domain/attribute.ts';
import type { Warehouse } from '../../ports/warehouse.ts';
import { countAttributeRows, deleteAttributeRows } from './attribute-rows.ts';
import { shardFor, type Engine } from './connect.ts';
import { dropJob, dropLoad, dropStages, listStaged, stopJob } from './drop-stage.ts';
import { countRows, listRejects, readSoFar } from './load-results.ts';
import { publishDevices, publishLoad, replaceAttributes } from './publish.ts';
import { stageLoad } from './stage-load.ts';

export function clickhouseWarehouse(engine: Engine): Warehouse {
  return {
    writeJobKeys: (jobId, keys) => writeJobKeys(engine, jobId, keys),
    stage: (load, source, signal) => stageLoad(engine, load, source, signal),
    readSoFar: (load) => readSoFar(engine, load),
    countRows: (load) => countRows(engine, load),
    listRejects: (page) => listRejects(engine, page),
    publish: (load) => publishLoad(engine, load),
    replaceAttributes: (job, loadIds) => replaceAttributes(engine, job, loadIds),
    stopJob: (jobId) => stopJob(engine, jobId),
    dropStages: (loadIds) => dropStages(engine, loadIds),
    dropLoad: (loadId) => dropLoad(engine, loadId),
    publishDevices: (jobId, loadIds) => publishDevices(engine, jobId, loadIds),
    dropJob: (jobId) => dropJob(engine, jobId),
    countAttributeRows: (rows) => countAttributeRows(engine, rows),
    deleteAttributeRows: (rows) => deleteAttributeRows(engine, rows),
    listStaged: () => listStaged(engine),
  };
}

/** May be repeated: a load reads each key once. */
async function writeJobKeys(engine: Engine, jobId: number, keys: readonly ResolvedKey[]): Promise<void> {
  if (keys.length === 0) return;
  await shardFor(engine, jobId).insert({
    table: 'job_keys',
    values: keys.map(({ key, attributeId }) => ({ job_id: jobId, key, attribute_id: attributeId })),
    format: 'JSONEachRow',
    clickhouse_settings: { distributed_foreground_insert: 1 },
  });
}
