import type { Generation } from '../../../ports/audience-warehouse.ts';
import { onEveryShard, type Engine } from '../connect.ts';
import { generationParameters, isOfGeneration } from './generation-sql.ts';

export async function countDead(engine: Engine, generation: Generation): Promise<number> {
  const counts = await onEveryShard(engine, async (shard) => {
    const result = await shard.query({
      query: `SELECT toString(count()) AS rows FROM audience_devices_local WHERE ${isOfGeneration}`,
      query_params: generationParameters(generation),
      format: 'JSONEachRow',
    });
    const [row] = await result.json<{ rows: string }>();
    return Number(row?.rows ?? 0);
  });
  return counts.reduce((sum, count) => sum + count, 0);
}

/**
 * One mutation for all of a partner's dead generations: only parts of its own partition that hold some of them are
 * written anew. (On plain tables every other part gets a new name by hard links, which takes time but no room.) Returns
 * when the rows are in no part any more.
 */
export async function purgeGenerations(
  engine: Engine,
  partnerId: number,
  generations: readonly Generation[],
  signal: AbortSignal,
): Promise<void> {
  if (!Number.isSafeInteger(partnerId)) throw new TypeError(`${partnerId} is no partition`);
  const pairs = generations.map(({ audienceId, generation }) => `${audienceId}.${generation}`);
  await onEveryShard(engine, (shard) =>
    shard.command({
      query: `
        ALTER TABLE audience_devices_local DELETE IN PARTITION ID '${partnerId}'
        WHERE partner_id = {partner: UInt64} AND audience_id IN ({audiences: Array(UInt64)})
          AND concat(toString(audience_id), '.', toString(generation)) IN ({pairs: Array(String)})`,
      query_params: { partner: partnerId, audiences: generations.map(({ audienceId }) => audienceId), pairs },
      clickhouse_settings: { mutations_sync: '2' },
      abort_signal: signal,
    }),
  );
}
