import { onEveryShard, type Engine, type Shard } from './connect.ts';

/** The one number that a query `SELECT toString(…) AS number` gives. */
export async function selectNumber(
  shard: Shard,
  query: Omit<Parameters<Shard['query']>[0], 'format'>,
): Promise<number> {
  const result = await shard.query({ ...query, format: 'JSONEachRow' });
  const [row] = await result.json<{ number: string }>();
  return Number(row?.number ?? 0);
}

/** Each device is on one shard, so the total is a sum. */
export async function sumOverShards(engine: Engine, count: (shard: Shard) => Promise<number>): Promise<number> {
  return (await onEveryShard(engine, count)).reduce((total, ofShard) => total + ofShard, 0);
}
