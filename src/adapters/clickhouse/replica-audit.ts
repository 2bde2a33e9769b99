import { type Engine, type Server, type Shard, selectRows, syncAllReplicas } from './connect.ts';
import { replicatedTables } from './migration-sql.ts';

/**
 * The number of comparisons before a partition is reported. Loads that run in the meantime can change a partition
 * between two reads, but a partition that differs each time is divergent.
 */
const comparisons = 3;

/**
 * Compares the rows of all replicas of each shard, and returns one sentence per partition that differs. Reads all rows. Every
 * replica must be available.
 */
export async function findReplicaDifferences(engine: Engine): Promise<string[]> {
  const differences: string[] = [];
  for (const [index, shard] of engine.shards.entries()) {
    for (const table of shard.length === 1 ? [] : replicatedTables) {
      let found: string[] = [];
      for (let n = 0; n < comparisons && (n === 0 || found.length > 0); n++) {
        await syncAllReplicas(engine, [table]);
        found = await compareTable(shard, table);
      }
      differences.push(...found.map((difference) => `Shard ${index + 1}, table ${table}, ${difference}`));
    }
  }
  return differences;
}

async function compareTable(shard: Shard, table: string): Promise<string[]> {
  const [first = new Map<string, Content>(), ...others] = await Promise.all(
    shard.map((server) => contentOf(server, table)),
  );
  return others.flatMap((other, index) =>
    [...new Set([...first.keys(), ...other.keys()])].flatMap((partition) => {
      const [one, another] = [first.get(partition), other.get(partition)];
      if (one?.hash === another?.hash) return [];
      return `partition ${partition}: replica 1 has ${one?.rows ?? 0} rows, but replica ${index + 2} has ${another?.rows ?? 0} rows or other values.`;
    }),
  );
}

type Content = { readonly partition: string; readonly rows: string; readonly hash: string };

/** Bitmaps cannot be hashed, but the column `content` contains a hash of their devices. */
const hashedColumns: Readonly<Record<string, string>> = {
  attribute_bitmaps_local: '* EXCEPT devices',
  audience_bitmaps_local: '* EXCEPT devices',
  full_chunks_local: 'chunk, bitmapCardinality(devices), bitmapMin(devices), bitmapMax(devices)',
};

/** Rows that a merge would remove are ignored, because replicas can merge at different times. */
async function contentOf(server: Server, table: string): Promise<Map<string, Content>> {
  const isReplacing = table !== 'load_rejects_local' && table !== 'purged_generations_local';
  const columns = hashedColumns[table] ?? '*';
  const rows = await selectRows<Content>(
    server,
    `SELECT _partition_id AS partition, toString(count()) AS rows, toString(sum(cityHash64(${columns}))) AS hash
     FROM ${table} ${isReplacing ? 'FINAL' : ''} GROUP BY partition`,
  );
  return new Map(rows.map((row) => [row.partition, row]));
}
