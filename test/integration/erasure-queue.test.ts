import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { connectPostgres } from '../../src/adapters/postgres/db/connect.ts';
import type { Database } from '../../src/adapters/postgres/db/tables.ts';
import { postgresErasureQueue } from '../../src/adapters/postgres/erasure-queue.ts';
import { readQueueStats } from '../../src/adapters/postgres/queue/queue-stats.ts';
import { postgresOperatorErasures } from '../../src/adapters/postgres/operator-erasures.ts';
import { aesGcmSealer } from '../../src/adapters/vault/aes-gcm-sealer.ts';
import { Secret } from '../../src/domain/secret.ts';
import type { ClaimedBatch } from '../../src/ports/erasure.ts';
import { silentLog } from '../support/silent-log.ts';
import { type TestStores, createPostgresStores, withDatabase } from '../support/stores.ts';
import { type BarePartner, type Wired, newBarePartner, wireUp } from '../support/wired.ts';

const ids = ['a3f1c2d4-5678-90ab-cdef-1234567890ab'];
const list = { ids: 1, invalidLines: 0, salt: 'a', digest: 'b' };

describe('the erasure queue', () => {
  let stores: TestStores;
  let deps: Wired;
  let db: Database;
  let partner: BarePartner;

  beforeAll(async () => {
    stores = await createPostgresStores();
    deps = await wireUp(stores);
    const url = new Secret(stores.environment['INLET_POSTGRES_URL'] ?? '');
    db = connectPostgres({ url, name: 'test-erasures', maxConnections: 2, log: silentLog });
    partner = await newBarePartner(deps);
  });
  afterAll(async () => {
    await db.destroy();
    await deps.close();
    await stores.drop();
  });
  beforeEach(async () => {
    await query('DELETE FROM erasure');
    await query('DELETE FROM erasure_batch');
  });

  const query = (text: string, ...values: unknown[]): Promise<Record<string, unknown>[]> =>
    withDatabase(stores, async (client) => (await client.query<Record<string, unknown>>(text, values)).rows);
  const request = (): Promise<number> =>
    deps.erasures.request(partner.id, { requestedBy: 'test', source: { ids } }, null);
  const claim = async (seconds = 60): Promise<ClaimedBatch> => {
    const batch = await deps.erasureQueue.claim(seconds);
    if (!batch) throw new Error('no batch is due');
    return batch;
  };

  it('waits for loads that started before the rows were removed', async () => {
    await request();
    const batch = await claim();
    await query(`SELECT nextval('load_id') FROM generate_series(1, 2)`);
    const settled = await deps.erasureQueue.advance(batch, { step: 'settle', includesNewLoads: true });
    expect(settled.lastLoadId).toBeGreaterThan(batch.lastLoadId);
  });

  it('counts the loads of a repair as open loads', async () => {
    await request();
    const batch = await claim();
    const [job] = await query(
      `INSERT INTO job (partner_id, seq, kind) VALUES ($1, 1000, 'import') RETURNING id`,
      partner.id,
    );
    await query(
      'INSERT INTO repair_load (load_id, partner_id, job_id) VALUES ($1, $2, $3)',
      1,
      partner.id,
      job?.['id'],
    );
    expect(await deps.erasureQueue.countOpenLoads({ ...batch, lastLoadId: 1 })).toBe(1);
    expect(await deps.erasureQueue.countOpenLoads({ ...batch, lastLoadId: 0 })).toBe(0);
    await query('DELETE FROM job WHERE id = $1', job?.['id']);
  });

  it('gives a rewritten list a new number, and changes nothing for a worker that lost its claim', async () => {
    const id = await request();
    const lost = await claim(0);
    const held = await claim();
    const written = await deps.erasureQueue.advance(held, { step: 'list', isNewList: true });
    expect(written.listId).not.toBe(lost.listId);
    expect(await deps.erasureQueue.findOpenLists()).toEqual([written.listId]);
    await deps.erasureQueue.recordList(lost, id, { ...list, ids: 99 });
    await deps.erasureQueue.fail(lost, id, { code: 'invalid_id_list', detail: 'lost' });
    expect(await query('SELECT status, ids FROM erasure')).toEqual([{ status: 1, ids: '1' }]);
  });

  it('reports a request as unreadable if its sealing key was removed', async () => {
    await request();
    const batch = await claim();
    expect(await deps.erasureQueue.listRequests(batch)).toMatchObject([{ source: { kind: 'ids', ids } }]);
    const other = postgresErasureQueue(db, aesGcmSealer([new Secret(`other:${'ab'.repeat(32)}`)]));
    expect(await other.listRequests(batch)).toMatchObject([{ source: { kind: 'unreadable' } }]);
  });

  it('gives equal lists different digests', async () => {
    await request();
    await request();
    const digests = await query('SELECT DISTINCT ids_digest FROM erasure');
    expect(digests).toHaveLength(2);
  });

  it('ends a list whose command was killed', async () => {
    await postgresOperatorErasures(db).begin('operator');
    expect(await deps.erasureQueue.claim(60)).toBeNull();
    await query(`UPDATE erasure_batch SET started_at = now() - interval '25 hours'`);
    const batch = await claim();
    expect(batch.step).toBe('list');
    expect(await deps.erasureQueue.listRequests(batch)).toEqual([]);
  });

  it('continues a batch before one that began earlier but was completed later', async () => {
    const operators = postgresOperatorErasures(db);
    const { id } = await operators.begin('operator');
    await request();
    const running = await claim();
    await operators.complete(id, list);
    expect(await deps.erasureQueue.claim(60)).toBeNull();
    await deps.erasureQueue.postpone(running, -1, 'loads');
    expect((await claim()).id).toBe(running.id);
  });

  it('reports the age of the oldest open request and the duration of the last batch', async () => {
    expect(await readQueueStats(db)).toMatchObject({ openErasures: 0, oldestErasureSeconds: 0, lastErasureSeconds: 0 });
    const oldest = await request();
    await query(`UPDATE erasure SET requested_at = now() - interval '100 seconds' WHERE id = $1`, oldest);
    await request();
    const batch = await claim();
    await query(`UPDATE erasure_batch SET started_at = now() - interval '60 seconds'`);
    const open = await readQueueStats(db);
    expect(open).toMatchObject({ openErasures: 2, lastErasureSeconds: 0 });
    expect(open.oldestErasureSeconds).toBeGreaterThanOrEqual(100);
    await deps.erasureQueue.finish(batch, new Date(), []);
    await query('UPDATE erasure SET status = 2');
    const ended = await readQueueStats(db);
    expect(ended).toMatchObject({ openErasures: 0, oldestErasureSeconds: 0 });
    expect(ended.lastErasureSeconds).toBeGreaterThanOrEqual(59);
  });

  it("waits for one partner's loads without delaying other partners' requests", async () => {
    const other = await newBarePartner(deps);
    const ask = (of: BarePartner): Promise<number> =>
      deps.erasures.request(of.id, { requestedBy: 'test', source: { ids } }, null);
    const [job] = await query(
      `INSERT INTO job (partner_id, seq, kind) VALUES ($1, 2000, 'import') RETURNING id`,
      partner.id,
    );
    await query('INSERT INTO repair_load (load_id, partner_id, job_id) VALUES (1, $1, $2)', partner.id, job?.['id']);
    await ask(partner);
    await ask(other);
    const loading = await claim();
    expect(loading.partnerIds).toEqual([partner.id]);
    expect(await deps.erasureQueue.claim(60)).toBeNull();
    await deps.erasureQueue.postpone(loading, 60, 'loads');
    const next = await claim();
    expect(next.partnerIds).toEqual([other.id]);
    // The partner's later requests wait for its open batch.
    await ask(partner);
    await deps.erasureQueue.postpone(next, 60, 'loads');
    expect(await deps.erasureQueue.claim(60)).toBeNull();
    await query('UPDATE erasure_batch SET claimed_until = now() - make_interval(secs => id)');
    expect((await claim()).id).toBe(next.id);
    await query('DELETE FROM job WHERE id = $1', job?.['id']);
  });

  it("adds up a partner's erased rows", async () => {
    await deps.erasureQueue.noteErased([{ partnerId: partner.id, rows: 4 }]);
    await deps.erasureQueue.noteErased([{ partnerId: partner.id, rows: 1 }]);
    expect(await query('SELECT rows FROM erased_partner')).toEqual([{ rows: '5' }]);
  });
});
