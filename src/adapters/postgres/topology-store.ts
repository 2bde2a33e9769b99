import { sql } from 'kysely';
import type { ShardRecord } from '../../domain/topology.ts';
import type { TopologyStore } from '../../ports/topology.ts';
import type { Database } from './db/tables.ts';

export function postgresTopologyStore(db: Database): TopologyStore {
  return {
    read: async () => (await sql<ShardRecord>`SELECT number, identity, weight FROM recorded_shards()`.execute(db)).rows,
    readLastLoadId: async () => {
      const { rows } = await sql<{ id: number }>`SELECT last_load_id() AS id`.execute(db);
      return rows[0]?.id ?? 0;
    },
    record: (shards) =>
      db.transaction().execute(async (tx) => {
        await tx.deleteFrom('shard').execute();
        await tx
          .insertInto('shard')
          .values([...shards])
          .execute();
      }),
  };
}
