import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Engine, type Server, closeEngine, selectNumber } from '../../src/adapters/clickhouse/connect.ts';
import { deleteAttributeRows } from '../../src/adapters/clickhouse/warehouse.ts';
import { type TestStores, createStores } from '../support/stores.ts';
import { connectTestEngine } from '../support/test-engine.ts';
import { waitUntil } from '../support/wait-until.ts';

/** Wraps the engine, and counts its commands and how often it polls mutations. */
function counted(engine: Engine) {
  const counts = { commands: 0, polls: 0, polling: 0, maxPolling: 0 };
  const shard = new Proxy(engine.shards[0][0], {
    get: (inner, property) => {
      if (property === 'command') {
        return (given: Parameters<Server['command']>[0]) => {
          counts.commands += 1;
          return inner.command(given);
        };
      }
      if (property === 'query') {
        return async (given: Parameters<Server['query']>[0]) => {
          if (!/system\.(?:mutations|parts)/.test(given.query)) return inner.query(given);
          counts.polling += 1;
          counts.maxPolling = Math.max(counts.maxPolling, counts.polling);
          try {
            return await inner.query(given);
          } finally {
            counts.polling -= 1;
            counts.polls += 1;
          }
        };
      }
      return Reflect.get(inner, property) as unknown;
    },
  });
  return { engine: { ...engine, shards: [[shard]] } satisfies Engine, counts };
}

const rowsOf = (partnerId: number) => ({ partnerId, attributeIds: [1], versions: { ofDeletes: 8, ofAdds: 9 } });

describe('a repeated delete', () => {
  let stores: TestStores;
  let engine: Engine;
  beforeAll(async () => {
    stores = await createStores('one');
    engine = connectTestEngine(stores);
    const values = [1, 2, 3, 4, 5].map(
      (partner) => `(${partner}, 1, toUUID('6d92078a-8246-4ba4-ae5b-76104861e7dc'), 1)`,
    );
    await engine.shards[0][0].command({
      query: `INSERT INTO device_attributes_local (partner_id, attribute_id, device, version) VALUES ${values.join(', ')}`,
    });
    await engine.shards[0][0].command({ query: 'SYSTEM STOP MERGES device_attributes_local' });
  });
  afterAll(async () => {
    await closeEngine(engine);
    await stores.drop();
  });

  const number = (what: string): Promise<number> =>
    selectNumber(engine.shards[0][0], { query: `SELECT ${what} AS number` });
  const open = (): Promise<number> =>
    number('toString((SELECT count() FROM system.mutations WHERE database = currentDatabase() AND NOT is_done))');

  it('waits for the mutation of the previous attempt and does not poll more often for more callers', async () => {
    const before = counted(engine);
    const attempts = [deleteAttributeRows(before.engine, rowsOf(1))];
    await waitUntil('the mutation has started', async () => (await open()) === 1);

    const again = counted(engine);
    attempts.push(deleteAttributeRows(again.engine, rowsOf(1)));
    await waitUntil('the second attempt has polled', () => Promise.resolve(again.counts.polls > 2));
    expect(again.counts.commands).toBe(0);
    expect(await open()).toBe(1);

    for (const partnerId of [2, 3, 4, 5]) attempts.push(deleteAttributeRows(before.engine, rowsOf(partnerId)));
    await waitUntil('all mutations have started', async () => (await open()) === 5);
    const { polls } = before.counts;
    await waitUntil('the attempts poll again', () => Promise.resolve(before.counts.polls > polls + 2));
    expect(before.counts.maxPolling).toBe(1);

    await engine.shards[0][0].command({ query: 'SYSTEM START MERGES device_attributes_local' });
    expect(await Promise.all(attempts)).toEqual(attempts.map(() => true));
    expect(await number('toString((SELECT count() FROM device_attributes_local))')).toBe(0);
  });

  it("ends even if another partner's mutation fails", async () => {
    const [[shard]] = engine.shards;
    await shard.command({
      query: `INSERT INTO device_attributes_local (partner_id, attribute_id, device, version)
        VALUES (11, 1, generateUUIDv4(), 1), (12, 1, generateUUIDv4(), 1)`,
    });
    // Represents a mutation that runs out of disk space or memory.
    await shard.command({
      query: `ALTER TABLE device_attributes_local DELETE IN PARTITION ID '11' WHERE throwIf(attribute_id = 1, 'no space') = 1`,
      clickhouse_settings: { mutations_sync: '0', allow_nondeterministic_mutations: 1 },
    });
    await waitUntil('the mutation of partner 11 has failed', async () => {
      const failed = `SELECT count() FROM system.mutations WHERE database = currentDatabase() AND latest_fail_reason != ''`;
      return (await number(`toString((${failed}))`)) === 1;
    });
    expect(await deleteAttributeRows(engine, rowsOf(12))).toBe(true);
    expect(await number('toString((SELECT count() FROM device_attributes_local WHERE partner_id = 12))')).toBe(0);
    expect(await number('toString((SELECT count() FROM device_attributes_local WHERE partner_id = 11))')).toBe(1);
    await expect(deleteAttributeRows(engine, rowsOf(11))).rejects.toThrow('no space');
  });
});
