import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { appendEvent } from '../../src/adapters/postgres/event-log.ts';
import type { NewEvent } from '../../src/ports/event-log.ts';
import { type TestStores, createStores, withDatabase } from '../support/stores.ts';
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

  it('lists the events after a sequence number, up to the limit', async () => {
    const { id } = await newBarePartner(deps);
    for (let n = 1; n <= 5; n += 1) await append(reportReady(id, n));
    expect(await sequencesOf(id, 3)).toEqual([4, 5]);
    expect(await sequencesOf(id, 5)).toEqual([]);
    const two = await deps.events.list({ partnerId: id, customerId: null }, { ...page, after: 1, limit: 2 });
    expect(two.map(({ sequence }) => sequence)).toEqual([2, 3]);
  });

  it('lists the newest events first, without those whose type is unknown to this release', async () => {
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

  it('ends a page before an event whose type is unknown to this release', async () => {
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
    await deps.events.removeExpired();
    await append(reportReady(id, 4));
    expect(await sequencesOf(id)).toEqual([3, 4]);
  });
});
