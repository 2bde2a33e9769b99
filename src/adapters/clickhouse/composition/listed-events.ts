import type { Generation } from '../../../ports/audience-warehouse.ts';
import { generationParameters, isOfGeneration } from '../audiences/generation-sql.ts';
import type { Engine } from '../connect.ts';

/** More events than anyone compares, and few enough for a report of thousands of attributes. */
const mostEvents = 100;
/** In bytes. The list goes with every statement; a text of this length is no name of an event. */
const longestEvent = 256;

/**
 * The events that most members have, matched or not, in byte order: what the uploader knows anyway decides, and nothing
 * of the warehouse. The rest of the events is not reported.
 */
export async function listEvents(engine: Engine, members: Generation, signal: AbortSignal): Promise<string[]> {
  const result = await engine.shards[0].query({
    query: `
      SELECT event FROM (SELECT event, count() AS devices FROM audience_devices FINAL
      WHERE ${isOfGeneration}
        AND length(event) <= ${longestEvent}
      GROUP BY event ORDER BY devices DESC, event LIMIT ${mostEvents}) ORDER BY event`,
    query_params: generationParameters(members),
    format: 'JSONEachRow',
    abort_signal: signal,
    clickhouse_settings: { max_bytes_before_external_group_by: '134217728', max_memory_usage: '1073741824' },
  });
  return (await result.json<{ event: string }>()).map(({ event }) => event);
}
