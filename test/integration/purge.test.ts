import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { purgeGenerations } from '../../src/usecases/admin/maintenance.ts';
import { clearAndReload } from '../chaos/clear-and-reload.ts';
import { silentLog } from '../support/silent-log.ts';
import { commandOnShards, selectOnShards } from '../support/shard-tables.ts';
import { type TestStores, createStores, withDatabase } from '../support/stores.ts';
import { type Wired, newBarePartner, wireUp } from '../support/wired.ts';

describe('purging cleared audiences', () => {
  let stores: TestStores;
  let deps: Wired;
  const { signal } = new AbortController();

  beforeAll(async () => {
    stores = await createStores('two');
    deps = await wireUp(stores);
  });
  afterAll(async () => {
    await deps.close();
    await stores.drop();
  });

  const purge = (purgeWaitSeconds = 0): Promise<void> =>
    purgeGenerations({ ...deps, log: silentLog, purgeWaitSeconds }, signal);
  const endPause = (): Promise<unknown> =>
    withDatabase(stores, (client) => client.query(`UPDATE sweep SET next_at = NULL WHERE name = 'purge generations'`));
  const mutations = (): Promise<string[]> =>
    selectOnShards(
      stores,
      `SELECT uniqExact(mutation_id) FROM system.mutations
       WHERE database = currentDatabase() AND table = 'audience_devices_local'`,
    );

  /** Creates a partner with one cleared audience. Every shard stores the given numbers of dead and live rows. */
  const newCleared = async (dead: number, live: number): Promise<{ partnerId: number; audienceId: number }> => {
    const { id: partnerId } = await newBarePartner(deps);
    const audienceId = await withDatabase(stores, async (client) => {
      const { rows } = await client.query<{ id: string }>(
        `INSERT INTO audience (partner_id, name) VALUES ($1, 'a') RETURNING id`,
        [partnerId],
      );
      return Number(rows[0]?.id);
    });
    await deps.audiences.clear({ partnerId, customerId: null }, audienceId);
    for (const [generation, rows] of [dead, live].entries()) {
      await commandOnShards(
        stores,
        `INSERT INTO audience_devices_local SELECT ${partnerId}, ${audienceId}, ${generation}, generateUUIDv4(number), '', 1
         FROM numbers(${rows})`,
      );
    }
    return { partnerId, audienceId };
  };
  const left = async (partnerId: number): Promise<string[]> =>
    selectOnShards(
      stores,
      `SELECT generation, count() FROM audience_devices_local WHERE partner_id = ${partnerId} GROUP BY generation`,
    );

  it(
    'removes the rows left by 200 clears across 20 partners with a single mutation',
    { timeout: 120_000 },
    async () => {
      const { samples } = await clearAndReload(stores, deps, {
        clears: 200,
        audiences: 100,
        partners: 20,
        rows: 10,
        drainSeconds: 0,
        sampleSeconds: 60,
      });
      expect(samples.at(-1)).toMatchObject({ deadRows: 2_000, due: 200 });
      await purge();
      const dead = 'SELECT count() FROM audience_devices_local WHERE generation < 2';
      expect(await selectOnShards(stores, dead)).toEqual(['0', '0']);
      expect(await selectOnShards(stores, 'SELECT count() FROM audience_devices_local')).toEqual(['500', '500']);
      expect(await mutations()).toEqual(['1', '1']);
      await withDatabase(stores, async (client) => {
        const { rows } = await client.query(
          'SELECT sum(purged_rows) AS rows, count(purged_at) AS done FROM dead_generation',
        );
        expect(rows).toEqual([{ rows: '2000', done: '0' }]);
      });
    },
  );

  it('the next purge waits three times as long as the last one took', async () => {
    await endPause();
    const { partnerId } = await newCleared(1, 1);
    expect(await deps.audiences.claimDueGenerations(10)).toHaveLength(1);
    expect(await deps.audiences.claimDueGenerations(10)).toEqual([]);
    await deps.audiences.endPurge(0);
    expect(await deps.audiences.claimDueGenerations(10)).toHaveLength(1);
    await deps.audiences.endPurge(20);
    await purge();
    expect(await left(partnerId)).toHaveLength(4);
    await endPause();
    await purge();
    expect(await left(partnerId)).toEqual(['1\t1', '1\t1']);
  });

  it('a few dead rows of a large partner wait until they are old enough', { timeout: 60_000 }, async () => {
    const { partnerId } = await newCleared(10, 600_000);
    await endPause();
    await purge(3600);
    expect(await left(partnerId)).toContain('0\t10');
    // They are not counted again immediately.
    await endPause();
    expect(await deps.audiences.claimDueGenerations(10)).toEqual([]);
    await withDatabase(stores, (client) =>
      client.query(
        `UPDATE dead_generation SET check_at = now(), dead_at = now() - interval '61 minutes' WHERE partner_id = $1`,
        [partnerId],
      ),
    );
    await purge(3600);
    expect(await left(partnerId)).toEqual(['1\t600000', '1\t600000']);
  });

  it('a generation is finished only after another check an hour later', async () => {
    const { partnerId, audienceId } = await newCleared(5, 0);
    await endPause();
    await purge();
    const finished = async (): Promise<unknown> => {
      const dead = await deps.audiences.listDead(10_000);
      return dead.flatMap((one) => (one.audienceId === audienceId ? [one.purgedRows, one.purgedAt !== null] : []));
    };
    expect(await finished()).toEqual([10, false]);
    // A delayed statement writes another row.
    await commandOnShards(
      stores,
      `INSERT INTO audience_devices_local SELECT ${partnerId}, ${audienceId}, 0, generateUUIDv4(), '', 1`,
    );
    await withDatabase(stores, (client) =>
      client.query(
        `UPDATE dead_generation SET check_at = now(), dead_at = now() - interval '1 hour' WHERE partner_id = $1`,
        [partnerId],
      ),
    );
    await endPause();
    await purge();
    expect(await finished()).toEqual([12, true]);
    expect(await left(partnerId)).toEqual([]);
  });
});
