import type { DeviceCounts } from '../../../ports/audience-warehouse.ts';
import type { Shard } from '../connect.ts';

/** The two numbers that a query with the columns `unique` and `matched` gives. */
export async function selectCounts(
  shard: Shard,
  { query, ...rest }: Omit<Parameters<Shard['query']>[0], 'format'>,
): Promise<DeviceCounts> {
  const result = await shard.query({
    ...rest,
    query: `SELECT toString(unique) AS unique, toString(matched) AS matched FROM (${query})`,
    format: 'JSONEachRow',
  });
  const [row] = await result.json<{ unique: string; matched: string }>();
  return { unique: Number(row?.unique ?? 0), matched: Number(row?.matched ?? 0) };
}

export function sumCounts(counts: readonly DeviceCounts[]): DeviceCounts {
  return counts.reduce((a, b) => ({ unique: a.unique + b.unique, matched: a.matched + b.matched }));
}
