import type { ResolvedKey } from '../../domain/attribute.ts';
import type { Warehouse } from '../../ports/warehouse.ts';
import { countAttributeRows, deleteAttributeRows } from './attribute-rows.ts';
import { shardFor, type Engine } from './connect.ts';
import { dropJob, stopJob } from './drop-stage.ts';
import { publishDevices, publishLoad, replaceAttributes } from './publish.ts';

export function clickhouseWarehouse(engine: Engine): Warehouse {
  return {
    writeJobKeys: (jobId, keys) => writeJobKeys(engine, jobId, keys),
    publish: (load) => publishLoad(engine, load),
    replaceAttributes: (job, loadIds) => replaceAttributes(engine, job, loadIds),
    stopJob: (jobId) => stopJob(engine, jobId),
    publishDevices: (jobId, loadIds) => publishDevices(engine, jobId, loadIds),
    dropJob: (jobId) => dropJob(engine, jobId),
    countAttributeRows: (rows) => countAttributeRows(engine, rows),
    deleteAttributeRows: (rows) => deleteAttributeRows(engine, rows),
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
