import { type ClickHouseSettings, createClient } from '@clickhouse/client';
import { secondsOf } from '../bench.ts';
import { objectOf } from '../files.ts';
import type { Running } from '../service.ts';

/** A partner ID for rows that a yardstick writes. */
export const yardstickPartnerId = 999_999;

export type BareInsert = (running: Running, path: string, settings: ClickHouseSettings) => Promise<number>;

/** Inserts an audience file into Inlet's final table without validating or counting. */
export const insertMembers: BareInsert = (running, path, settings) => {
  const values = `${yardstickPartnerId}, 1, 0, device, event, 1`;
  return insertFrom(running, path, settings, 'device UUID, event String', (file) => {
    return `INSERT INTO audience_devices${running.topology === 'replicated' ? '' : '_local'} (partner_id, audience_id, generation, device, event, file_id)
      SELECT ${values} FROM ${file}`;
  });
};

/** Inserts a file of five columns, with attribute IDs in place of keys. */
export function insertAttributes(attributes: ReadonlyMap<string, number>): BareInsert {
  const columns = 'device UUID, id_type UInt8, country String, operation UInt8, keys String';
  const keys = [...attributes.keys()].map((key) => `'${key}'`).join();
  const ids = [...attributes.values()].join();
  const attribute = `transform(arrayJoin(splitByChar('|', keys)), [${keys}], [${ids}], 0)`;
  return (running, path, settings) =>
    insertFrom(running, path, settings, columns, (file) => {
      return `INSERT INTO device_attributes${running.topology === 'replicated' ? '' : '_local'}
          (partner_id, attribute_id, device, id_type, country, version, is_deleted)
        SELECT ${yardstickPartnerId}, ${attribute}, device, id_type, country, 1, operation FROM ${file}`;
    });
}

async function insertFrom(
  running: Running,
  path: string,
  settings: ClickHouseSettings,
  columns: string,
  insert: (file: string) => string,
): Promise<number> {
  const object = objectOf(running, running.partner, path);
  const isReplicated = running.topology === 'replicated';
  return secondsOf(async () => {
    await running.engine.command({
      query: insert(`s3(${object.arguments}, 'CSV', '${columns}')`),
      query_params: object.parameters,
      clickhouse_settings: { optimize_on_insert: 0, ...settings, ...(isReplicated ? replicatedInsert : {}) },
    });
    if (isReplicated) await syncReplicas(running);
  });
}

/**
 * Inserts through the Distributed table and waits until the shards have the rows. Deduplication is off, because every
 * round inserts the same rows.
 */
const replicatedInsert: ClickHouseSettings = {
  distributed_foreground_insert: 1,
  deduplicate_insert: 'disable',
  deduplicate_insert_select: 'disable',
};

/** Waits until every replica has the rows. */
async function syncReplicas({ stores }: Running): Promise<void> {
  await Promise.all(
    stores.config.INLET_CLICKHOUSE_URLS.flat().map(async (url) => {
      const client = createClient({ url: url.reveal(), database: stores.database });
      for (const table of ['audience_devices_local', 'device_attributes_local']) {
        await client.command({ query: `SYSTEM SYNC REPLICA ${table} LIGHTWEIGHT` });
      }
      await client.close();
    }),
  );
}
