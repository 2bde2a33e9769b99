import { sql } from 'kysely';
import { setTimeout as later } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { underRole } from '../../src/adapters/postgres/db/api-role.ts';
import { connectForCallers } from '../../src/adapters/postgres/db/connect.ts';
import type { Database, Tx } from '../../src/adapters/postgres/db/tables.ts';
import { asCaller } from '../../src/adapters/postgres/db/row-security.ts';
import { watchStatements } from '../support/sent-statements.ts';
import { silentLog } from '../support/silent-log.ts';
import { type TestStores, createPostgresStores, withDatabase } from '../support/stores.ts';
import { newBarePartner, wireUp } from '../support/wired.ts';

// Uses one connection for callers and one for authentication, so that each caller gets a connection that another caller
// just used.

describe('API connections', () => {
  let stores: TestStores;
  let db: Database;
  let ids: number[];
  let watch: ReturnType<typeof watchStatements>;

  const visible = async (on: Database | Tx = db): Promise<number[]> =>
    (await on.selectFrom('partner').select('id').execute()).map(({ id }) => id);
  const as = <T>(partnerId: number, run: () => T): T => asCaller({ partnerId, customerId: null }, run);
  const setsPartner = (text: string): boolean => text.includes('set_config');

  beforeEach(async () => {
    stores = await createPostgresStores();
    const deps = await wireUp(stores);
    ids = [(await newBarePartner(deps)).id, (await newBarePartner(deps)).id];
    await deps.close();
    watch = watchStatements();
    const url = underRole(stores.config.INLET_POSTGRES_URL, 'inlet_api');
    db = connectForCallers({ url, name: 'test', maxConnections: 2, log: silentLog });
  });
  afterEach(async () => {
    watch.stop();
    await db.destroy();
    await stores.drop();
  });

  it('an API connection shows each caller only its own rows, regardless of the call order', async () => {
    const callers = Array.from({ length: 300 }, (_, index) => [undefined, ...ids][(index * 7 + (index % 4)) % 3]);
    const seen = await Promise.all(callers.map((id) => (id === undefined ? visible() : as(id, () => visible()))));
    expect(seen).toEqual(callers.map((id) => (id === undefined ? [] : [id])));
  });

  it('does not set the partner again when the same partner calls again', async () => {
    const [one = 0, other = 0] = ids;
    const sent = await watch.during(async () => {
      for (const id of [one, one, one, other, other, one]) expect(await as(id, () => visible())).toEqual([id]);
      expect(await visible()).toEqual([]);
      expect(await as(one, () => visible())).toEqual([one]);
    });
    expect(sent.filter(({ text }) => setsPartner(text)).map(({ values }) => values)).toEqual(
      [one, other, one].map((id) => [String(id), '', '', '']),
    );
  });

  it('an API connection keeps its partner for a whole transaction and after a failed transaction', async () => {
    const [one = 0, other = 0] = ids;
    const both = async (tx: Tx): Promise<number[]> => [...(await visible(tx)), ...(await visible(tx))];
    const inside = as(one, () => db.transaction().execute(both));
    const waiting = as(other, () => visible());
    expect(await Promise.all([inside, waiting])).toEqual([[one, one], [other]]);
    const failing = as(one, () => db.transaction().execute((tx) => sql`SELECT 1 / 0`.execute(tx)));
    await expect(failing).rejects.toThrow('division by zero');
    expect(await as(other, () => visible())).toEqual([other]);
  });

  it('an API connection keeps its partner for work that continues after the response', async () => {
    const [one = 0, other = 0] = ids;
    const continuing = as(one, async () => {
      await later(50);
      return visible();
    });
    expect(await as(other, () => visible())).toEqual([other]);
    expect(await continuing).toEqual([one]);
  });

  it('an API connection is closed if setting the partner fails, and the next caller gets another connection', async () => {
    const [one = 0, other = 0] = ids;
    for (let round = 0; round < 3; round += 1) {
      const broken = watch.editing(
        (text) => (setsPartner(text) ? `SELECT 1 / 0, $1::text, $2::text, $3::text, $4::text` : text),
        () => as(round % 2 === 0 ? one : other, () => visible()),
      );
      await expect(broken).rejects.toThrow('division by zero');
    }
    expect(await as(other, () => visible())).toEqual([other]);
  });

  it('an API connection has no partner after a reconnect', async () => {
    const [one = 0] = ids;
    const pid = async (): Promise<number> =>
      (await sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`.execute(db)).rows[0]?.pid ?? 0;
    const before = await as(one, pid);
    await withDatabase(stores, (client) => client.query('SELECT pg_terminate_backend($1, 5000)', [before]));
    const seen = await as(one, () => visible()).catch(() => as(one, () => visible()));
    expect(seen).toEqual([one]);
    expect(await as(one, pid)).not.toBe(before);
  });
});
