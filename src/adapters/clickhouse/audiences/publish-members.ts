import type { Load } from '../../../ports/load-stage.ts';
import { onEveryShard, type Engine } from '../connect.ts';
import { loadQueryPrefix, newQueryId } from '../query-ids.ts';

/** From stage to audience, on each shard for itself. An audience is a set: repeating it changes nothing. */
export async function publishMembers(engine: Engine, load: Load, fileIds: readonly number[]): Promise<void> {
  if (load.target.kind !== 'audience') throw new TypeError(`load ${load.loadId} is not for an audience`);
  const { audienceId, generation } = load.target;
  await onEveryShard(engine, (shard) =>
    shard.command({
      query: `
        INSERT INTO audience_devices_local (partner_id, audience_id, generation, device, event, file_id)
        SELECT {partner: UInt64}, {audience: UInt64}, {generation: UInt32}, device, event, file_id
        FROM staged_members_local WHERE load_id = {load: UInt64} AND file_id IN ({files: Array(UInt64)})`,
      query_id: newQueryId(loadQueryPrefix(load.loadId), 'publish'),
      query_params: { partner: load.partnerId, audience: audienceId, generation, load: load.loadId, files: fileIds },
      clickhouse_settings: { optimize_on_insert: 0 },
    }),
  );
}
