import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postgresChangeFeeds } from '../../src/adapters/postgres/change-feed.ts';
import { appendEvent } from '../../src/adapters/postgres/event-log.ts';
import { repeat } from '../../src/entry/repeat.ts';
import type { NewEvent } from '../../src/ports/event-log.ts';
import { silentLog } from '../support/silent-log.ts';
import { type TestStores, createStores, withDatabase } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';
import { type Wired, newBarePartner, wireUp } from '../support/wired.ts';

const page = { after: 0, limit: 1000, hidden: [] };

describe('the event log', () => {
  let stores: TestStores;
  let deps: Wired;

  beforeAll(async () => {
    stores = await createStores('one');
    deps = await wireUp(stores);
  });
  afterAll(async () => {
    await deps.close();
    await stores.drop();
  });

  const append = (event: NewEvent, beforeCommit: () => Promise<unknown> = () => Promise.resolve()): Promise<void> =>
    deps.db.transaction().execute(async (tx) => {
      await appendEvent(tx, event);
      await beforeCommit();
    });

  const reportReady = (partnerId: number, audienceId: number, customerId: number | null = null): NewEvent => ({
    partnerId,
    customerId,
    type: 'report.ready',
    data: { audienceId, warehouseSegmentId: 100_000 + audienceId, split: null },
  });

  const sequencesOf = async (partnerId: number, after = 0): Promise<number[]> =>
    (await deps.events.list({ partnerId, customerId: null }, { ...page, after })).map(({ sequence }) => sequence);

  it('numbers the events of concurrent transactions without gaps', async () => {
    const { id } = await newBarePartner(deps);
    await Promise.all(Array.from({ length: 20 }, (_, index) => append(reportReady(id, index))));
    expect(await sequencesOf(id)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
  });

  it('reuses the sequence number of a failed transaction', async () => {
    const { id } = await newBarePartner(deps);
    await append(reportReady(id, 1));
    await expect(append(reportReady(id, 2), () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
    await append(reportReady(id, 3));
    expect(await sequencesOf(id)).toEqual([1, 2]);
  });

  it('wakes a waiting worker once per commit', async () => {
    const feeds = postgresChangeFeeds(
      { url: stores.config.INLET_POSTGRES_URL, name: 'event-log-test', log: silentLog },
      ['events'],
    );
    const feed = feeds.feedOf('events');
    const { id } = await newBarePartner(deps);
    const partners: (number | null)[] = [];
    feed.subscribe((partnerId) => partners.push(partnerId));
    // Without a notification, the task would run in an hour.
    let runs = 0;
    const worker = repeat(3_600_000, () => Promise.resolve(void (runs += 1)), silentLog, feed);
    try {
      await waitUntil('the worker listens', () => Promise.resolve(runs === 1));
      for (let commits = 1; commits <= 3; commits += 1) {
        await deps.db.transaction().execute(async (tx) => {
          await appendEvent(tx, reportReady(id, 1));
          await appendEvent(tx, reportReady(id, 2));
        });
        await waitUntil('the worker runs', () => Promise.resolve(runs === 1 + commits));
      }
      await expect(append(reportReady(id, 2), () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
      await append(reportReady(id, 3));
      await waitUntil('the worker runs', () => Promise.resolve(runs === 5));
      expect(partners).toEqual([null, id, id, id, id]);
    } finally {
      await worker.stop();
      await feeds.close();
    }
  });

  it('does not show an event until all earlier events are visible', async () => {
    const { id } = await newBarePartner(deps);
    const commit = Promise.withResolvers<undefined>();
    const started = Promise.withResolvers<undefined>();
    const first = append(reportReady(id, 1), () => {
      started.resolve(undefined);
      return commit.promise;
    });
    await started.promise;
    const second = append(reportReady(id, 2));
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await sequencesOf(id)).toEqual([]);
    commit.resolve(undefined);
    await Promise.all([first, second]);
    const events = await deps.events.list({ partnerId: id, customerId: null }, page);
    expect(
      events.map((event) => [event.sequence, event.type === 'report.ready' ? event.data.audienceId : null]),
    ).toEqual([
      [1, 1],
      [2, 2],
    ]);
  });

  it('lists all events for a partner, and only its own events for a customer', async () => {
    const { id } = await newBarePartner(deps);
    const other = await newBarePartner(deps);
    const customerId = await withDatabase(stores, async (client) => {
      const sql = `INSERT INTO customer (partner_id, name) VALUES ($1, 'Acme') RETURNING id`;
      return Number((await client.query<{ id: string }>(sql, [id])).rows[0]?.id);
    });
    await append(reportReady(id, 1));
    await append(reportReady(id, 2, customerId));
    await append(reportReady(other.id, 3));
    const listed = await deps.events.list({ partnerId: id, customerId: null }, page);
    expect(listed.map(({ sequence, customer }) => [sequence, customer])).toEqual([
      [1, null],
      [2, 'Acme'],
    ]);
    const ofCustomer = await deps.events.list({ partnerId: id, customerId }, page);
    expect(ofCustomer.map(({ sequence }) => sequence)).toEqual([2]);
  });

  it('shows the name that the customer had when the event was logged', async () => {
    const { id } = await newBarePartner(deps);
    const query = (sql: string, ...values: unknown[]) =>
      withDatabase(stores, async (client) => (await client.query<{ id: string }>(sql, values)).rows);
    const [customer] = await query(`INSERT INTO customer (partner_id, name) VALUES ($1, 'Acme') RETURNING id`, id);
    const customerId = Number(customer?.id);
    await append(reportReady(id, 1, customerId));
    // An event that the previous release logged.
    await append(reportReady(id, 2, customerId));
    await query(`UPDATE event SET data = data - 'customer' WHERE partner_id = $1 AND sequence = 2`, id);
    await query(`UPDATE customer SET name = 'Apex' WHERE id = $1`, customerId);
    await append(reportReady(id, 3, customerId));
    const listed = await deps.events.list({ partnerId: id, customerId: null }, page);
    expect(listed.map(({ customer: name }) => name)).toEqual(['Acme', 'Apex', 'Apex']);
    expect(listed[0]?.data).toEqual(reportReady(id, 1).data);
  });

  it('lists the events after a sequence number, up to the limit', async () => {
    const { id } = await newBarePartner(deps);
    for (let n = 1; n <= 5; n += 1) await append(reportReady(id, n));
    expect(await sequencesOf(id, 3)).toEqual([4, 5]);
    expect(await sequencesOf(id, 5)).toEqual([]);
    const two = await deps.events.list({ partnerId: id, customerId: null }, { ...page, after: 1, limit: 2 });
    expect(two.map(({ sequence }) => sequence)).toEqual([2, 3]);
  });

  it('lists the newest events first, and omits events of types that this release does not know', async () => {
    const { id } = await newBarePartner(deps);
    for (let n = 1; n <= 5; n += 1) await append(reportReady(id, n));
    await withDatabase(stores, (client) =>
      client.query(`UPDATE event SET type = 'report.revoked' WHERE partner_id = $1 AND sequence = 3`, [id]),
    );
    const newest = async (newestBefore: number, limit: number): Promise<number[]> =>
      (await deps.events.list({ partnerId: id, customerId: null }, { ...page, newestBefore, limit })).map(
        ({ sequence }) => sequence,
      );
    expect(await newest(Number.MAX_SAFE_INTEGER, 3)).toEqual([5, 4, 2]);
    expect(await newest(2, 3)).toEqual([1]);
  });

  it('ends a page before an event of a type that this release does not know', async () => {
    const { id } = await newBarePartner(deps);
    for (let n = 1; n <= 3; n += 1) await append(reportReady(id, n));
    await withDatabase(stores, (client) =>
      client.query(`UPDATE event SET type = 'report.revoked' WHERE partner_id = $1 AND sequence = 2`, [id]),
    );
    expect(await sequencesOf(id)).toEqual([1]);
    expect(await sequencesOf(id, 1)).toEqual([]);
  });

  it('deletes events after 30 days and continues the sequence', async () => {
    const { id } = await newBarePartner(deps);
    for (let n = 1; n <= 3; n += 1) await append(reportReady(id, n));
    await withDatabase(stores, (client) =>
      client.query(`UPDATE event SET created_at = now() - interval '31 days' WHERE partner_id = $1 AND sequence < 3`, [
        id,
      ]),
    );
    await deps.events.removeExpired(new AbortController().signal);
    await append(reportReady(id, 4));
    expect(await sequencesOf(id)).toEqual([3, 4]);
  });
});
