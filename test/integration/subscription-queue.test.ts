import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Trigger } from '../../src/domain/subscription.ts';
import type { ListedObject, SubscriptionClaim } from '../../src/ports/subscription-store.ts';
import { type TestStores, createPostgresStores, withDatabase } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';
import { type BarePartner, type Wired, newBarePartner, wireUp } from '../support/wired.ts';

const atOnce: Trigger = { on: 'quiet', seconds: 0 };
const limits = { maxFiles: 10_000, maxOpenJobs: 200, listSeconds: 30, hasTooManyObjects: false };
const whole = { after: null, until: null };

describe('the subscription queue', () => {
  let stores: TestStores;
  let deps: Wired;

  beforeAll(async () => {
    stores = await createPostgresStores();
    deps = await wireUp(stores);
  });
  afterAll(async () => {
    await deps.close();
    await stores.drop();
  });

  const query = (text: string, ...values: unknown[]): Promise<Record<string, unknown>[]> =>
    withDatabase(stores, async (client) => (await client.query<Record<string, unknown>>(text, values)).rows);

  async function subscribe(owner?: BarePartner, trigger = atOnce, prefix = 'in/') {
    const partner = owner ?? (await newBarePartner(deps));
    const settings = { keyType: 1, compressed: false, trigger } as const;
    const id = await deps.subscriptions.create(partner.id, { ...settings, prefix, skipsExisting: false }, null);
    return { id, partner };
  }
  const claimOf = async (id: number, leaseSeconds = 60): Promise<SubscriptionClaim> => {
    const claims = await deps.subscriptionQueue.claim(1_000, leaseSeconds);
    const found = claims.find(({ subscriptionId }) => subscriptionId === id);
    if (!found) throw new Error(`subscription ${id} is not due`);
    return found;
  };
  const makeDue = (id: number) =>
    query('UPDATE subscription_state SET next_listing_at = now(), claimed_until = NULL WHERE subscription_id = $1', id);
  const object = ({ partnerPrefix }: SubscriptionClaim, name: string, etag = '"1"'): ListedObject => ({
    key: `${partnerPrefix}in/${name}`,
    etag,
    size: 1,
    lastModified: new Date('2026-11-18T09:00:00.000Z'),
  });
  const states = async (id: number): Promise<string[]> =>
    (await query('SELECT key, etag, state FROM subscription_object WHERE subscription_id = $1 ORDER BY id', id)).map(
      ({ key, etag, state }) => `${String(key).replace(/^.*\/in\//, '')} ${String(etag)} ${String(state)}`,
    );

  it('logs one event each time a prefix starts to have too many objects, even if it imports some or a quota stops it', async () => {
    const { id, partner } = await subscribe();
    const tooMany = { ...limits, hasTooManyObjects: true };
    const list = async (name: string, limitsOf = tooMany): Promise<void> => {
      await makeDue(id);
      const claim = await claimOf(id);
      await deps.subscriptionQueue.recordPage(claim, whole, [object(claim, name)], 60);
      expect(await deps.subscriptionQueue.finish(claim, limitsOf)).not.toBeNull();
    };
    const events = async (): Promise<unknown[]> => {
      const scope = { partnerId: partner.id, customerId: null };
      const page = { after: 0, limit: 100, hidden: [] };
      return (await deps.events.list(scope, page)).map(({ type, data }) => ({ type, data }));
    };
    const event = { type: 'subscription.too_many_objects', data: { subscriptionId: id } };
    await list('1.csv', limits);
    expect(await events()).toEqual([]);
    await list('2.csv');
    await list('3.csv');
    await list('3.csv');
    expect(await events()).toEqual([event]);
    expect(await deps.subscriptions.get(partner.id, id)).toMatchObject({ waitsFor: 'too_many_objects' });

    await list('3.csv', limits);
    await list('4.csv', { ...tooMany, maxOpenJobs: 1 });
    await list('4.csv', { ...tooMany, maxOpenJobs: 1 });
    expect(await events()).toEqual([event, event]);

    await list('4.csv', limits);
    await list('4.csv');
    expect(await events()).toEqual([event, event, event]);
  });

  it('logs no event for a listing whose claim was lost', async () => {
    const { id, partner } = await subscribe();
    const claim = await claimOf(id);
    await deps.subscriptions.update(partner.id, id, { isPaused: true }, null);
    expect(await deps.subscriptionQueue.finish(claim, { ...limits, hasTooManyObjects: true })).toBeNull();
    expect(
      await deps.events.list({ partnerId: partner.id, customerId: null }, { after: 0, limit: 1, hidden: [] }),
    ).toEqual([]);
  });

  it('a subscription is claimed by one worker at a time, and only one per partner is claimed', async () => {
    const { id, partner } = await subscribe();
    const second = await subscribe(partner);
    const claims = (await Promise.all([1, 2, 3].map(() => deps.subscriptionQueue.claim(1_000, 60)))).flat();
    const held = claims.filter(({ subscriptionId }) => [id, second.id].includes(subscriptionId));
    expect(held.map(({ subscriptionId }) => subscriptionId)).toContain(id);
    const numbers = held.map(({ subscriptionId, claim }) => `${subscriptionId} ${claim}`);
    expect(new Set(numbers).size).toBe(numbers.length);
    await query(
      "UPDATE subscription_state SET claimed_until = now() - interval '1 second' WHERE partner_id = $1",
      partner.id,
    );
    const again = await deps.subscriptionQueue.claim(1_000, 60);
    expect(again.filter(({ partnerId }) => partnerId === partner.id)).toHaveLength(1);
  });

  it('lets only the holder of the last claim record and import', async () => {
    const { id } = await subscribe();
    const first = await claimOf(id);
    await makeDue(id);
    const second = await claimOf(id);
    expect(await deps.subscriptionQueue.recordPage(first, whole, [object(first, 'a')], 60)).toBe(false);
    expect(await deps.subscriptionQueue.finish(first, limits)).toBeNull();
    expect(await states(id)).toEqual([]);
    expect(await deps.subscriptionQueue.recordPage(second, whole, [object(second, 'a')], 60)).toBe(true);
    expect(await deps.subscriptionQueue.finish(second, limits)).toMatchObject({ objects: 1 });
    expect(await deps.subscriptionQueue.finish(second, limits)).toBeNull();
    expect(await states(id)).toEqual(['a "1" queued']);
  });

  it('ends the claim when the partner changes, pauses, or deletes the subscription', async () => {
    const { id, partner } = await subscribe();
    for (const change of [
      () => deps.subscriptions.update(partner.id, id, { compressed: true }, null),
      () => deps.subscriptions.update(partner.id, id, { isPaused: true }, null),
      () => deps.subscriptions.update(partner.id, id, { isPaused: false }, null),
      () => deps.subscriptions.remove(partner.id, id, null),
    ]) {
      await makeDue(id);
      await query('UPDATE subscription_state SET is_active = true WHERE subscription_id = $1', id);
      const held = await claimOf(id);
      await change();
      expect(await deps.subscriptionQueue.recordPage(held, whole, [], 60)).toBe(false);
      expect(await deps.subscriptionQueue.finish(held, limits)).toBeNull();
    }
  });

  it('imports each version only once, however often and in whatever pages it is listed', async () => {
    const { id } = await subscribe();
    for (let n = 0; n < 3; n += 1) {
      await makeDue(id);
      const held = await claimOf(id);
      const [a, b, c] = ['a', 'b', 'c'].map((name) => object(held, name));
      if (!a || !b || !c) throw new Error('there are three objects');
      await deps.subscriptionQueue.recordPage(held, { after: null, until: b.key }, [a, b], 60);
      await deps.subscriptionQueue.recordPage(held, { after: b.key, until: null }, [c], 60);
      expect((await deps.subscriptionQueue.finish(held, limits))?.objects).toBe(n === 0 ? 3 : 0);
    }
    expect(await states(id)).toEqual(['a "1" queued', 'b "1" queued', 'c "1" queued']);
  });

  it('records which versions were overwritten or deleted while waiting, and lets a version that returns wait again', async () => {
    const { id } = await subscribe(undefined, { on: 'quiet', seconds: 3_600 });
    const list = async (...listed: [string, string][]): Promise<void> => {
      await makeDue(id);
      const held = await claimOf(id);
      await deps.subscriptionQueue.recordPage(
        held,
        whole,
        listed.map(([name, etag]) => object(held, name, etag)),
        60,
      );
      await deps.subscriptionQueue.finish(held, limits);
    };
    await list(['a', '"1"'], ['b', '"1"']);
    await list(['a', '"2"']);
    expect(await states(id)).toEqual(['a "1" overwritten', 'b "1" deleted', 'a "2" waiting']);
    await list(['a', '"1"'], ['b', '"1"']);
    expect(await states(id)).toEqual(['a "1" waiting', 'b "1" waiting', 'a "2" overwritten']);
  });

  it('waits while the partner or the subscription has too many open imports', async () => {
    const { id, partner } = await subscribe();
    for (let n = 0; n < 12; n += 1) {
      await makeDue(id);
      const held = await claimOf(id);
      const listed = Array.from({ length: n + 1 }, (_, one) => object(held, String(one).padStart(3, '0')));
      await deps.subscriptionQueue.recordPage(held, whole, listed, 60);
      await deps.subscriptionQueue.finish(held, limits);
    }
    expect(await deps.subscriptions.get(partner.id, id)).toMatchObject({ waitingObjects: 2, waitsFor: 'open_imports' });
    await query('UPDATE job SET cancelled = true WHERE partner_id = $1 AND seq = 5', partner.id);
    await makeDue(id);
    const next = await deps.subscriptionQueue.finish(await claimOf(id), limits);
    expect(next).toMatchObject({ objects: 2, waitsFor: null });
    await query('UPDATE subscription_state SET is_active = false WHERE subscription_id = $1', id);
    const other = await subscribe(partner, atOnce, 'in/');
    await makeDue(other.id);
    const held = await claimOf(other.id);
    await deps.subscriptionQueue.recordPage(held, whole, [object(held, 'x')], 60);
    const result = await deps.subscriptionQueue.finish(held, { ...limits, maxOpenJobs: 10 });
    expect(result).toMatchObject({ importLogId: null, waitsFor: 'open_imports' });
    expect(await states(other.id)).toEqual(['x "1" waiting']);
  });

  it('a subscription is due immediately when a notification names one of its objects, but not for other prefixes', async () => {
    const { id, partner } = await subscribe();
    const held = await claimOf(id);
    await deps.subscriptionQueue.finish(held, limits);
    const isDue = async (): Promise<boolean> => {
      await query(
        "UPDATE subscription_state SET claimed_at = now() - interval '2 seconds' WHERE subscription_id = $1",
        id,
      );
      const claims = await deps.subscriptionQueue.claim(1_000, 60);
      const found = claims.find(({ subscriptionId }) => subscriptionId === id);
      if (found) await deps.subscriptionQueue.finish(found, limits);
      return found !== undefined;
    };
    expect(await isDue()).toBe(false);
    await deps.subscriptionQueue.wake([`${partner.prefix}other/1.csv`, 'in/1.csv']);
    expect(await isDue()).toBe(false);
    await deps.subscriptionQueue.wake([`${partner.prefix}in/1.csv`]);
    expect(await isDue()).toBe(true);
  });

  it('a subscription is listed again after the listing interval', async () => {
    const secondsToNext = async (trigger: Trigger): Promise<number> => {
      const { id } = await subscribe(undefined, trigger);
      await deps.subscriptionQueue.finish(await claimOf(id), limits);
      const [row] = await query(
        `SELECT round(extract(epoch FROM next_listing_at - listed_at))::int AS seconds FROM subscription_state
         WHERE subscription_id = $1`,
        id,
      );
      return Number(row?.['seconds']);
    };
    expect(await secondsToNext(atOnce)).toBe(limits.listSeconds);
    expect(await secondsToNext({ on: 'marker', name: '_SUCCESS' })).toBe(limits.listSeconds);
    expect(await secondsToNext({ on: 'interval', seconds: 3_600 })).toBe(limits.listSeconds);
  });

  it('forgets versions that have long been gone and deleted subscriptions, but not versions in open imports', async () => {
    const { id } = await subscribe();
    const held = await claimOf(id);
    await deps.subscriptionQueue.recordPage(held, whole, [object(held, 'open')], 60);
    await deps.subscriptionQueue.finish(held, limits);
    await query(
      `INSERT INTO subscription_object (subscription_id, partner_id, key, etag, size, last_modified, state)
       SELECT subscription_id, partner_id, 'gone', '"1"', 1, now(), 'imported' FROM subscription_state WHERE subscription_id = $1`,
      id,
    );
    await query("UPDATE subscription_object SET gone_at = now() - interval '91 days' WHERE subscription_id = $1", id);
    expect(await deps.subscriptionQueue.removeExpired(90, 100)).toBeGreaterThan(0);
    expect(await states(id)).toEqual(['open "1" queued']);
    const deleted = await subscribe();
    await deps.subscriptions.remove(deleted.partner.id, deleted.id, null);
    expect(await deps.subscriptionQueue.removeExpired(90, 100)).toBeGreaterThan(0);
    expect(await query('SELECT id FROM subscription WHERE id = $1', deleted.id)).toEqual([]);
  });

  it('imports only the given versions, even if a worker of the previous release lists the prefix', async () => {
    const { id, partner } = await subscribe();
    const held = await claimOf(id);
    await deps.subscriptionQueue.recordPage(held, whole, [object(held, 'given')], 60);
    const result = await deps.subscriptionQueue.finish(held, limits);
    await deps.lanes.startImport(result?.importLogId ?? 0, [
      ['given', 'other'].map((name) => ({ ...object(held, name), path: name, gzip: false })),
    ]);
    const files = await query('SELECT path FROM job_file WHERE partner_id = $1', partner.id);
    expect(files).toEqual([{ path: 'given' }]);
  });

  it('accepts a marker only in a listing that started after the marker was seen, so that all files written before the marker are imported', async () => {
    const { id } = await subscribe(undefined, { on: 'marker', name: 'done' });
    const list = async (pages: (held: SubscriptionClaim) => ListedObject[][]) => {
      const held = await claimOf(id);
      let after: string | null = null;
      for (const [n, objects] of pages(held).entries()) {
        const until: string | null = n === 0 ? `${held.partnerPrefix}in/c` : null;
        await deps.subscriptionQueue.recordPage(held, { after, until }, objects, 60);
        after = until;
      }
      return deps.subscriptionQueue.finish(held, limits);
    };
    const marker = (held: SubscriptionClaim, minute: number): ListedObject => ({
      ...object(held, 'done'),
      lastModified: new Date(Date.UTC(2026, 10, 18, 10, minute)),
    });
    // The second file of each delivery is written after the first page was listed, and the marker before the second page.
    expect(await list((held) => [[object(held, 'a1')], [marker(held, 0)]])).toMatchObject({ importLogId: null });
    const files = (held: SubscriptionClaim) => ['a1', 'a2'].map((name) => object(held, name));
    expect(await list((held) => [files(held), [marker(held, 0)]])).toMatchObject({ objects: 2 });
    await makeDue(id);
    const withFirst = (held: SubscriptionClaim) => [...files(held), object(held, 'b1')];
    expect(await list((held) => [withFirst(held), [marker(held, 1)]])).toMatchObject({ importLogId: null });
    const withBoth = (held: SubscriptionClaim) => [...withFirst(held), object(held, 'b2')];
    expect(await list((held) => [withBoth(held), [marker(held, 1)]])).toMatchObject({ objects: 2 });
  });

  it('imports a version again if it is uploaded again after another version', async () => {
    const { id } = await subscribe();
    const list = async (etag: string, hour: number): Promise<number | undefined> => {
      await makeDue(id);
      const held = await claimOf(id);
      const listed = { ...object(held, 'a', etag), lastModified: new Date(Date.UTC(2026, 10, 18, hour)) };
      await deps.subscriptionQueue.recordPage(held, whole, [listed], 60);
      const result = await deps.subscriptionQueue.finish(held, limits);
      await query(
        "UPDATE subscription_object SET state = 'imported' WHERE subscription_id = $1 AND state = 'queued'",
        id,
      );
      return result?.objects;
    };
    expect([await list('"1"', 1), await list('"2"', 2), await list('"1"', 3)]).toEqual([1, 1, 1]);
    // Neither the same upload nor an upload of the same content over itself is new.
    expect([await list('"1"', 3), await list('"1"', 4)]).toEqual([0, 0]);
  });

  it("rejects a retry of a deleted subscription's import, because its versions are about to be deleted", async () => {
    const { id, partner } = await subscribe();
    const held = await claimOf(id);
    await deps.subscriptionQueue.recordPage(held, whole, [object(held, 'a')], 60);
    const retryOf = (await deps.subscriptionQueue.finish(held, limits))?.importLogId ?? 0;
    await query('UPDATE job SET status = 3 WHERE id = $1', retryOf);
    const request = { filePath: 'in/', pathType: 0, keyType: 1, compressed: false, mode: 'merge', retryOf } as const;
    await deps.subscriptions.remove(partner.id, id, null);
    const refused = await deps.importLogs
      .submitImport(partner.id, { ...request, credentials: null }, 200)
      .catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'import_not_retryable' });
    expect(String(refused)).toContain(`subscription ${id} was deleted`);
    const [version] = await query('SELECT job_id FROM subscription_object WHERE subscription_id = $1', id);
    expect(Number(version?.['job_id'])).toBe(retryOf);
  });

  it('keeps versions as imported if a retry of all files is canceled before it starts', async () => {
    const { id, partner } = await subscribe();
    const held = await claimOf(id);
    await deps.subscriptionQueue.recordPage(held, whole, [object(held, 'a'), object(held, 'b')], 60);
    const first = (await deps.subscriptionQueue.finish(held, limits))?.importLogId ?? 0;
    await deps.lanes.startImport(first, [
      [object(held, 'a'), object(held, 'b')].map((given) => ({ ...given, path: given.key, gzip: false })),
    ]);
    await query(
      `UPDATE job_file SET status = CASE WHEN key LIKE '%a' THEN 2 ELSE 3 END, failure_code = CASE WHEN key LIKE '%b' THEN 'no_good_row' END
       WHERE job_id = $1`,
      first,
    );
    await query('UPDATE job SET status = 3, finished_at = now() WHERE id = $1', first);
    const request = { filePath: 'in/', pathType: 0, keyType: 1, compressed: false, mode: 'merge' } as const;
    const retry = async (retryOf: number): Promise<number> => {
      const jobId = await deps.importLogs.submitImport(partner.id, { ...request, retryOf, credentials: null }, 200);
      expect(await states(id)).toEqual(['a "1" queued', 'b "1" queued']);
      // The lane ends the job, and a listing of the subscription records the outcome of each version.
      await query('UPDATE job SET status = 3, cancelled = true, finished_at = now() WHERE id = $1', jobId);
      await makeDue(id);
      const again = await claimOf(id);
      await deps.subscriptionQueue.recordPage(again, whole, [object(again, 'a'), object(again, 'b')], 60);
      await deps.subscriptionQueue.finish(again, limits);
      expect(await states(id)).toEqual(['a "1" imported', 'b "1" failed']);
      return jobId;
    };
    await retry(await retry(first));
  });

  it('records no version as lost after its import has started', async () => {
    const { id } = await subscribe();
    const held = await claimOf(id);
    const given = object(held, 'a');
    await deps.subscriptionQueue.recordPage(held, whole, [given], 60);
    const jobId = (await deps.subscriptionQueue.finish(held, limits))?.importLogId ?? 0;
    await deps.lanes.startImport(jobId, [[{ ...given, path: 'a', gzip: false }]]);
    // A worker that was suspended before the start has found that the version is gone.
    await deps.lanes.recordLostObjects(jobId, [{ key: given.key, state: 'deleted' }]);
    expect(await states(id)).toEqual(['a "1" queued']);
  });

  it("passes on a notification even if another partner's state is locked", async () => {
    const { id, partner } = await subscribe();
    const other = await subscribe();
    await deps.subscriptionQueue.claim(1_000, 60);
    const isWoken = async (one: number): Promise<boolean> => {
      const woken = 'SELECT FROM subscription_state WHERE subscription_id = $1 AND woken_at IS NOT NULL';
      return (await query(woken, one)).length > 0;
    };
    const keys = [`${partner.prefix}in/1.csv`, `${other.partner.prefix}in/1.csv`];
    await withDatabase(stores, async (client) => {
      await client.query('BEGIN');
      await client.query('SELECT FROM subscription_state WHERE subscription_id = $1 FOR UPDATE', [id]);
      const waking = deps.subscriptionQueue.wake(keys);
      try {
        await waitUntil('the other subscription is woken', () => isWoken(other.id), 5);
      } finally {
        await client.query('COMMIT');
      }
      expect(await waking).toEqual(keys.slice(0, 1));
    });
    expect(await isWoken(id)).toBe(false);
    expect(await deps.subscriptionQueue.wake(keys.slice(0, 1))).toEqual([]);
    expect(await isWoken(id)).toBe(true);
  });
});

describe('listing a prefix with many versions that are gone', () => {
  it('reads only the versions that still exist and those that are listed', async () => {
    // In a new database, the counters contain nothing else.
    const stores = await createPostgresStores();
    const deps = await wireUp(stores);
    try {
      const { id, prefix } = await newBarePartner(deps);
      const settings = { keyType: 1, compressed: false, trigger: atOnce } as const;
      await deps.subscriptions.create(id, { ...settings, prefix: 'in/', skipsExisting: false }, null);
      const query = (text: string, ...values: unknown[]): Promise<Record<string, unknown>[]> =>
        withDatabase(stores, async (client) => (await client.query<Record<string, unknown>>(text, values)).rows);
      await query(
        `INSERT INTO subscription_object (subscription_id, partner_id, key, etag, size, last_modified, state, gone_at)
         SELECT subscription_id, partner_id, $1 || 'in/' || n, '"1"', 1, now(), 'imported', now()
         FROM subscription_state, generate_series(1, 20000) AS n`,
        prefix,
      );
      await query('ANALYZE subscription_object');
      const count = async (): Promise<{ added: number; read: number }> => {
        const [row] = await query(
          `SELECT n_tup_ins AS added, coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) AS read
           FROM pg_stat_user_tables WHERE relname = 'subscription_object'`,
        );
        return { added: Number(row?.['added']), read: Number(row?.['read']) };
      };
      await waitUntil('the insert is counted', async () => (await count()).added === 20_000, 30);
      const before = await count();
      const [held] = await deps.subscriptionQueue.claim(1, 60);
      if (!held) throw new Error('the subscription is due');
      const listed = ['1', 'new'].map((name) => ({
        key: `${prefix}in/${name}`,
        etag: '"1"',
        size: 1,
        lastModified: new Date('2026-11-18T09:00:00.000Z'),
      }));
      await deps.subscriptionQueue.recordPage(held, whole, listed, 60);
      await waitUntil('the listing is counted', async () => (await count()).added === 20_001, 30);
      expect((await count()).read - before.read).toBeLessThan(1_000);
    } finally {
      await deps.close();
      await stores.drop();
    }
  });
});
