import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectPostgres } from '../../src/adapters/postgres/db/connect.ts';
import type { Database } from '../../src/adapters/postgres/db/tables.ts';
import { postgresRequestWindows } from '../../src/adapters/postgres/request-windows.ts';
import { silentLog } from '../support/silent-log.ts';
import { type TestStores, createPostgresStores } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';

describe('request windows', () => {
  let stores: TestStores;
  let db: Database;

  beforeAll(async () => {
    stores = await createPostgresStores();
    db = connectPostgres({ url: stores.config.INLET_POSTGRES_URL, name: 'test', maxConnections: 8, log: silentLog });
  });
  afterAll(async () => {
    await db.destroy();
    await stores.drop();
  });

  const rows = () => db.selectFrom('request_window').selectAll().orderBy('key_id').execute();

  it('counts the requests of a key and of its partner separately', async () => {
    // The window is long enough not to end during the test.
    const windows = postgresRequestWindows(db, 1_000_000_000);
    const [key, all] = [
      { partnerId: 1, windowId: 11, requests: 4 },
      { partnerId: 1, windowId: 0, requests: 7 },
    ];
    expect((await windows.take([key, all])).map(({ taken }) => taken)).toEqual([4, 7]);
    expect((await windows.take([key])).map(({ taken }) => taken)).toEqual([8]);
    expect((await windows.take([{ ...key, windowId: 12 }, all])).map(({ taken }) => taken)).toEqual([4, 14]);
    const [other] = await windows.take([{ partnerId: 2, windowId: 0, requests: 1 }]);
    expect(other?.taken).toBe(1);
    expect(other?.secondsLeft).toBeGreaterThan(60);
  });

  it('counts every concurrent request', async () => {
    const windows = postgresRequestWindows(db, 1_000_000_000);
    const taken = await Promise.all(
      Array.from({ length: 200 }, async (_, number) => {
        const [, all] = await windows.take([
          { partnerId: 3, windowId: 31 + (number % 3), requests: 2 },
          { partnerId: 3, windowId: 0, requests: 2 },
        ]);
        return all?.taken ?? 0;
      }),
    );
    expect(taken.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 200 }, (_, number) => 2 * (number + 1)));
  });

  it('counts from zero in the next window and returns the end of the window', async () => {
    const windows = postgresRequestWindows(db, 1);
    const portion = { partnerId: 4, windowId: 41, requests: 5 };
    const sums: number[] = [];
    await waitUntil('a window has ended', async () => {
      const [answer] = await windows.take([portion]);
      if (!answer) throw new Error('no result');
      expect(answer.secondsLeft).toBeLessThanOrEqual(1);
      sums.push(answer.taken);
      return sums.length > 1 && answer.taken === 5;
    });
    expect(sums.at(-1)).toBe(5);
  });

  it('counts a late statement in the current window and starts a new window after the clock is set back', async () => {
    const windows = postgresRequestWindows(db, 1_000_000_000);
    const portion = { partnerId: 5, windowId: 51, requests: 1 };
    await windows.take([portion]);
    const put = (by: number) =>
      db
        .updateTable('request_window')
        .set((row) => ({ number: row('number', '+', by), taken: 9 }))
        .where('key_id', '=', 51)
        .execute();
    await put(1);
    expect((await windows.take([portion]))[0]?.taken).toBe(10);
    await put(5);
    expect((await windows.take([portion]))[0]?.taken).toBe(1);
  });

  it('deletes request windows after they end', async () => {
    const [short, long] = [postgresRequestWindows(db, 1), postgresRequestWindows(db, 1_000_000_000)];
    await db.deleteFrom('request_window').execute();
    await long.take([{ partnerId: 6, windowId: 61, requests: 1 }]);
    await long.sweep();
    expect((await rows()).map(({ key_id }) => key_id)).toEqual([61]);
    await short.sweep();
    expect(await rows()).toEqual([]);
  });
});
