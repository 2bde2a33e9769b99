import type { Generation } from '../../../ports/warehouse.ts';
import { generationParameters, isOfGeneration } from '../audience-warehouse.ts';
import { isStandIn, standInScope } from '../stand-in-sql.ts';
import { type Engine, onEveryShardInSync, selectRows, serverFor } from '../connect.ts';

/** Large enough for comparisons and small enough for a report on thousands of attributes. */
const maxEvents = 100;
/** Maximum size of an event in bytes. The list of events is sent with every statement. */
const maxEventBytes = 256;

const isOfStandIn = isStandIn(standInScope.audience());

/**
 * Returns the audience's most frequent events, sorted in byte order. Other events are not reported. Unmatched members
 * are included, so the selection depends only on data that the uploader already has.
 */
export async function listAudienceEvents(engine: Engine, members: Generation): Promise<string[]> {
  const haveEvents = await onEveryShardInSync(engine, ['audience_devices_local'], (shard) =>
    selectRows(
      shard,
      `SELECT 1 FROM audience_devices_local WHERE ${isOfGeneration} AND event != '' AND NOT ${isOfStandIn} LIMIT 1`,
      generationParameters(members),
    ),
  );
  if (haveEvents.every((rows) => rows.length === 0)) return [''];
  const result = await serverFor(engine, 0).query({
    query: `
      SELECT event FROM (SELECT event, count() AS devices FROM audience_devices FINAL
      WHERE ${isOfGeneration}
        AND length(event) <= ${maxEventBytes} AND NOT ${isOfStandIn}
      GROUP BY event ORDER BY devices DESC, event LIMIT ${maxEvents}) ORDER BY event`,
    query_params: generationParameters(members),
    format: 'JSONEachRow',
    clickhouse_settings: {
      max_bytes_before_external_group_by: '134217728',
      max_memory_usage: '1073741824',
      // Does not read a replica that is behind.
      max_replica_delay_for_distributed_queries: '1',
      fallback_to_stale_replicas_for_distributed_queries: 0,
    },
  });
  return (await result.json<{ event: string }>()).map(({ event }) => event);
}
