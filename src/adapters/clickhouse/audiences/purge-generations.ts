import type { Generation } from '../../../ports/audience-warehouse.ts';
import { onEveryShard, type Engine } from '../connect.ts';
import { selectNumber, sumOverShards } from '../count.ts';
import { mutate } from '../mutate.ts';
import { generationParameters, isOfGeneration } from './generation-sql.ts';

export async function countDead(engine: Engine, generation: Generation): Promise<number> {
  return sumOverShards(engine, (shard) =>
    selectNumber(shard, {
      query: `SELECT toString(count()) AS number FROM audience_devices_local WHERE ${isOfGeneration}`,
      query_params: generationParameters(generation),
    }),
  );
}

/**
 * One mutation for all of them, with a command for each partner's partition: only parts that hold some of them are written
 * anew. (On plain tables every other part gets a new name by hard links, which takes time but no room: seconds a mutation
 * where there are many parts, so there should be few mutations.) Returns when the rows are in no part any more.
 */
export async function purgeGenerations(
  engine: Engine,
  dead: readonly Generation[],
  signal: AbortSignal,
): Promise<void> {
  const byPartner = Map.groupBy(dead, ({ partnerId }) => partnerId);
  const query = `ALTER TABLE audience_devices_local ${[...byPartner].map(deleteOfPartner).join(', ')}`;
  const statement = { query, query_params: {}, partitions: [...byPartner.keys()] };
  await onEveryShard(engine, (shard) => mutate(shard, 'audience_devices_local', statement, signal));
}

function deleteOfPartner([partnerId, dead]: [number, Generation[]]): string {
  const pairs = dead.map(({ audienceId, generation }) => `(${whole(audienceId)}, ${whole(generation)})`);
  return `DELETE IN PARTITION ID '${whole(partnerId)}'
    WHERE partner_id = ${whole(partnerId)} AND (audience_id, generation) IN (${pairs.join(', ')})`;
}

/** These stand in the statement itself: a partition cannot be a parameter, and each command has its own. */
function whole(id: number): number {
  if (!Number.isSafeInteger(id) || id < 0) throw new TypeError(`${id} is no id`);
  return id;
}
