import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Engine, closeEngine, connectEngine } from '../../src/adapters/clickhouse/connect.ts';
import { migrateEngine } from '../../src/adapters/clickhouse/migrate.ts';
import { clickhouseUnseenRows } from '../../src/adapters/clickhouse/unseen-rows.ts';
import { versionsOfJob } from '../../src/domain/job.ts';
import {
  type ReplicatedServers,
  commandOn,
  engineSettings,
  killReplica,
  replicasOf,
  selectOn,
  startReplicatedServers,
} from './replicated-servers.ts';

const { signal } = new AbortController();
const removal = { partnerId: 7, lastSeq: 3 };

describe('removing unseen rows on replicated shards', () => {
  let servers: ReplicatedServers;
  const database = 'unseen';
  const connected: Engine[] = [];

  const connect = () => {
    const options = { replicasRequired: 2, replicaLostAfterMs: 200, name: 'test' };
    const engine = connectEngine({ ...engineSettings(servers, database), ...options });
    connected.push(engine);
    return clickhouseUnseenRows(engine);
  };
  const insertRow = (shard: number, partnerId: number, seq: number, isDeleted: 0 | 1): Promise<unknown> => {
    const { ofAdds, ofDeletes } = versionsOfJob(seq);
    const row = `${partnerId}, ${seq}, generateUUIDv4(), 1, 'DE', ${isDeleted === 1 ? ofDeletes : ofAdds}, ${isDeleted}`;
    return commandOn(replicasOf(servers, shard)[0], `INSERT INTO device_attributes_local SELECT ${row}`, database);
  };
  const insertRows = async (): Promise<void> => {
    for (const shard of [0, 1]) {
      for (const partnerId of [removal.partnerId, 8]) {
        for (const seq of [2, 3, 4]) await insertRow(shard, partnerId, seq, 0);
        await insertRow(shard, partnerId, 3, 1);
      }
    }
  };

  beforeAll(async () => {
    servers = await startReplicatedServers();
    await migrateEngine({ ...engineSettings(servers, database), folder: 'migrations/clickhouse' });
  });
  afterEach(async () => {
    await Promise.all(connected.splice(0).map(closeEngine));
  });
  afterAll(async () => {
    await servers.stop();
  });

  it('removes unseen rows from every replica, and counts the remaining rows on all replicas', async () => {
    await insertRows();
    const rows = connect();
    const { attributeIds, ...found } = await rows.find(removal);
    expect([found, attributeIds.toSorted((a, b) => a - b)]).toEqual([{ rows: 6 }, [2, 3]]);
    expect(await rows.countRemaining(removal)).toBe(12);
    await rows.remove(removal, signal);
    expect(await rows.countRemaining(removal)).toBe(0);
    for (const replica of [0, 1].flatMap((shard) => replicasOf(servers, shard))) {
      const left = `SELECT concat(partner_id, ' ', count()) FROM device_attributes_local GROUP BY partner_id ORDER BY partner_id`;
      expect(await selectOn(replica, left, database)).toEqual(['7 1', '8 4']);
    }
  });

  it('fails while a replica is unavailable, because its rows are unknown', async () => {
    await killReplica(replicasOf(servers, 1)[1]);
    await expect(connect().countRemaining(removal)).rejects.toThrow(/replica|ECONNREFUSED|socket/i);
    await expect(connect().remove(removal, signal)).rejects.toThrow(/replica|ECONNREFUSED|socket/i);
  });
});
