import { type Engine, type Server, type Shard, selectNumber, selectRows } from '../connect.ts';
import { type StatementOptions, areDeleted, deletesIn, mutate, untilApplied } from '../mutate.ts';

type Options = {
  readonly statement?: StatementOptions;
  /** Erases only in the partitions with these IDs. Mutations of other partitions continue independently. */
  readonly partitions?: readonly number[];
  /** Each replica has its own rows of a table that is not replicated. */
  readonly isReplicated?: boolean;
};

/** Does nothing if an earlier attempt has erased the rows, because every mutation hard-links all other parts. */
export async function eraseFrom(
  engine: Engine,
  table: string,
  condition: string,
  signal: AbortSignal,
  { statement, partitions: own, isReplicated = true }: Options = {},
): Promise<void> {
  const commands = own ? deletesIn(own, condition) : [`DELETE WHERE ${condition}`];
  const query = `ALTER TABLE ${table} ${commands.join(', ')}`;
  const eraseOn = async (shard: Shard): Promise<void> => {
    const partitions = own ?? (await partitionsOf(shard, table));
    // Stops at the first row.
    const left = `SELECT toString(count()) AS number FROM (SELECT 1 FROM ${table} WHERE ${condition} LIMIT 1)`;
    const deletion = { query, query_params: {}, partitions, left, ...(statement ? { options: statement } : {}) };
    // Mutations of an interrupted attempt can still be running.
    await Promise.all(shard.map((server) => untilApplied(server, table, partitions, { signal })));
    if (!(await areDeleted(shard, deletion))) await mutate(shard, table, deletion, signal);
  };
  const alone = engine.shards.flat().map((server): Shard => [server]);
  await Promise.all((isReplicated ? engine.shards : alone).map(eraseOn));
}

async function partitionsOf(shard: Shard, table: string): Promise<string[]> {
  const found = await Promise.all(
    shard.map((server) =>
      selectRows<{ id: string }>(
        server,
        `SELECT DISTINCT partition_id AS id FROM system.parts
         WHERE active AND database = currentDatabase() AND table = {table: String}`,
        { table },
      ),
    ),
  );
  return [...new Set(found.flat().map(({ id }) => id))];
}

export async function exists(server: Server, table: string): Promise<boolean> {
  const query = `SELECT toString(count()) AS number FROM system.tables WHERE database = currentDatabase() AND name = {table: String}`;
  return (await selectNumber(server, { query, query_params: { table } })) > 0;
}
