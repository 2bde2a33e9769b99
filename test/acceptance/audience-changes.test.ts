import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { historyListSchema } from '../../src/adapters/http/records/audience-history.ts';
import { audienceListSchema } from '../../src/adapters/http/records/audience.ts';
import { rows } from '../support/file-rows.ts';
import { runOperator } from '../support/run-operator.ts';
import { type ServiceProcess, startWorker, stopProcess } from '../support/running-service.ts';
import { selectOnShards } from '../support/shard-tables.ts';
import { type Audiences, joinAudiences, startAudiences } from '../support/start-audiences.ts';
import { withDatabase } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';
import { type AudienceClient, audienceClient, audiencePath } from './audience-client.ts';

describe('renaming, deleting, and following an audience', () => {
  let market: Audiences;
  let audiences: AudienceClient;

  beforeAll(async () => {
    market = await joinAudiences();
    ({ audiences } = market);
    await market.partner.upload('a.csv', rows(0, 4));
    await market.partner.upload('b.csv', rows(2, 6));
  });
  afterAll(() => market.stop());

  const patch = (id: number, body: object) => audiences.expectProblem('PATCH', `${audiencePath}/${id}`, body);

  it('renames an audience without loading anything', async () => {
    const { audienceId } = await audiences.create('Before', 'a.csv');
    const before = await audiences.settled(audienceId);
    await audiences.rename(audienceId, '  After ');
    const after = await audiences.get(audienceId);
    expect(after).toEqual({ ...before, name: 'After', updated_at: after.updated_at });
    expect(after.updated_at > before.updated_at).toBe(true);
    expect(await audiences.list('?name=aft')).toHaveLength(1);
    expect(await audiences.list('?name=before')).toEqual([]);
  });

  it.each([
    [{}, [['/file_path', 'file_path is required.']]],
    [{ name: 'x', file_path: 'a.csv' }, [['/name', 'name must be absent when file_path is present.']]],
    [{ name: '' }, [['/name', 'name must not be empty.']]],
    [{ name: 5 }, [['/name', 'name must be a string.']]],
    [{ name: 'x'.repeat(257) }, [['/name', 'name must have at most 256 characters.']]],
    [
      { title: 'x' },
      [
        ['/title', 'Unknown field "title".'],
        ['/file_path', 'file_path is required.'],
      ],
    ],
  ])('rejects %j', async (body, expected) => {
    const { audienceId } = await audiences.create('Strict', 'a.csv');
    const problem = await patch(audienceId, body);
    expect(problem).toMatchObject({ status: 400, code: 'invalid_request' });
    const errors = (problem.errors ?? []).map(({ pointer, detail }) => `${pointer}: ${detail}`);
    expect(errors.toSorted()).toEqual(expected.map((parts) => parts.join(': ')).toSorted());
  });

  it('shows appends, retries, and clears in the history, page by page', async () => {
    const { audienceId } = await audiences.create('History', 'a.csv');
    await audiences.settled(audienceId);
    await audiences.append(audienceId, 'nothing/');
    await audiences.settled(audienceId);
    await audiences.clear(audienceId);
    await audiences.append(audienceId, 'b.csv');
    await audiences.settled(audienceId);
    // An append's job ends a moment after its files.
    await waitUntil('the append has ended', async () => {
      const [newest] = await audiences.history(audienceId);
      return newest?.append?.finished_at !== null;
    });
    const history = await audiences.history(audienceId);
    expect(
      history.map(({ type, append }) => [type, append?.file_path, append?.status, append?.cleared, append?.files]),
    ).toEqual([
      ['append', 'b.csv', 2, false, { all: 1, loaded: 1, failed: 0 }],
      ['clear', undefined, undefined, undefined, undefined],
      ['append', 'nothing/', 3, true, null],
      ['append', 'a.csv', 2, true, { all: 1, loaded: 1, failed: 0 }],
    ]);
    expect(new Set(history.map(({ by }) => by?.replace(/\d+/, 'N')))).toEqual(new Set(['key N']));
    expect(history[2]?.append?.error).toMatchObject({ code: 'no_files' });
    // An append that listed no files has not started, as in import logs.
    expect(history.map(({ append }) => append && append.started_at !== null)).toEqual([true, null, false, true]);
    for (const { at, append } of history) {
      if (!append?.started_at) continue;
      expect(append.started_at >= at).toBe(true);
      expect((append.finished_at ?? '') >= append.started_at).toBe(true);
    }
    expect(history.map(({ at }) => at)).toEqual(
      history
        .map(({ at }) => at)
        .toSorted()
        .toReversed(),
    );
    const pages = await market.api.follow(`${audiencePath}/${audienceId}/history?limit=1`);
    const entries = await Promise.all(pages.map(async (page) => historyListSchema.parse(await page.json())));
    expect(entries.flat()).toEqual(history);
    expect(await audiences.expectProblem('GET', `${audiencePath}/999999/history`)).toMatchObject({ status: 404 });
    const cleared = `${audiencePath}/${audienceId}/appends/${history[2]?.append?.append_id}`;
    expect(await audiences.expectProblem('POST', `${cleared}/retry`, {})).toMatchObject({
      code: 'append_not_retryable',
    });
    expect(await audiences.expectProblem('POST', `${cleared}/cancel`, {})).toMatchObject({
      code: 'append_not_cancelable',
    });
    const foreign = `${audiencePath}/${audienceId}/appends/999999`;
    expect(await audiences.expectProblem('POST', `${foreign}/retry`, {})).toMatchObject({ status: 404 });
    expect(await audiences.expectProblem('POST', `${foreign}/cancel`, {})).toMatchObject({ status: 404 });
  });

  it('names the caller of renames, dismissals, and deletions in the audit log, without names of audiences', async () => {
    const { audienceId } = await audiences.create('Audited', 'nothing/');
    const { file } = await audiences.settled(audienceId);
    const [pathId = ''] = file.map(({ file_id }) => file_id);
    await market.partner.upload('audited.csv', 'nonsense,\n');
    await audiences.append(audienceId, 'audited.csv');
    const fileId = (await audiences.settled(audienceId)).file.at(-1)?.file_id ?? '';
    await audiences.rename(audienceId, 'Renamed');
    await audiences.rename(audienceId, 'Renamed');
    for (const entry of [pathId, fileId, fileId]) await audiences.dismiss(audienceId, entry);
    await audiences.remove(audienceId);
    const entries = await withDatabase(market.stores, async (client) => {
      const { rows: found } = await client.query<{ event: string; actor: string; detail: unknown }>(
        `SELECT event, actor, detail FROM audit_log WHERE event LIKE 'audience.%' AND subject_id = $1 ORDER BY id`,
        [audienceId],
      );
      return found;
    });
    const actor: unknown = expect.stringMatching(/^key \d+$/);
    expect(entries).toEqual([
      { event: 'audience.update', actor, detail: null },
      { event: 'audience.dismiss', actor, detail: { file_id: pathId } },
      { event: 'audience.dismiss', actor, detail: { file_id: fileId } },
      { event: 'audience.delete', actor, detail: null },
    ]);
  });

  it('deletes an audience with its data, and answers 404 to every later request', async () => {
    const { audienceId, segmentId } = await audiences.create('Doomed name', 'a.csv');
    await audiences.settled(audienceId);
    const kept = await audiences.create('Kept', 'a.csv');
    await audiences.settled(kept.audienceId);
    const link = await audiences.request(`/v2/firstparty/segments/${segmentId}/console-links`, { method: 'POST' });
    expect([201, 400]).toContain(link.status);
    await audiences.append(audienceId, 'b.csv');
    const [{ append } = { append: null }] = await audiences.history(audienceId);
    await audiences.remove(audienceId);
    const one = `${audiencePath}/${audienceId}`;
    for (const [method, path, body] of [
      ['GET', one, undefined],
      ['GET', `${one}/files`, undefined],
      ['GET', `${one}/errors`, undefined],
      ['GET', `${one}/history`, undefined],
      ['GET', `/v2/firstparty/segments/${segmentId}/composition`, undefined],
      ['PATCH', one, { file_path: 'a.csv' }],
      ['PATCH', one, { name: 'Back' }],
      ['PUT', one, undefined],
      ['DELETE', one, undefined],
      ['POST', `${one}/appends/${append?.append_id}/cancel`, {}],
      ['POST', `${one}/appends/${append?.append_id}/retry`, {}],
      ['POST', '/v2/firstparty/overlap', { audience_ids: [audienceId, kept.audienceId] }],
    ] as const) {
      expect(await audiences.expectProblem(method, path, body), `${method} ${path}`).toMatchObject({ status: 404 });
    }
    expect((await audiences.list()).map(({ audience_id }) => audience_id)).not.toContain(audienceId);
    await waitUntil('the devices are purged', async () => {
      await withDatabase(market.stores, (client) =>
        client.query(`UPDATE sweep SET next_at = NULL WHERE name = 'purge generations'`),
      );
      const left = await selectOnShards(
        market.stores,
        `SELECT count() FROM audience_devices_local WHERE audience_id = ${audienceId}
         UNION ALL SELECT count() FROM audience_bitmaps_local WHERE audience_id = ${audienceId}`,
      );
      return left.every((count) => count === '0');
    });
    const { code, out } = await runOperator(market.stores.environment, ['audit', '--partner', market.partner.name]);
    expect([code, out]).toEqual([0, expect.stringContaining('0 with differences')]);
    await withDatabase(market.stores, async (client) => {
      const { rows: found } = await client.query<{ name: string }>(
        `SELECT name FROM audience WHERE id = $1 OR name = 'Doomed name'`,
        [audienceId],
      );
      expect(found).toEqual([{ name: '' }]);
      for (const table of ['composition', 'report_request', 'index_audience', 'console_link', 'console_session']) {
        const { rowCount } = await client.query(`SELECT FROM ${table} WHERE audience_id = $1`, [audienceId]);
        expect(rowCount, table).toBe(0);
      }
      // A process of the previous release does not know about deleted audiences.
      const insert = client.query(
        `INSERT INTO audience_load (job_id, partner_id, audience_id, generation, file_path)
         SELECT max(id) + 1000000, partner_id, $1, 1, 'x' FROM job WHERE partner_id = $2 GROUP BY partner_id`,
        [audienceId, market.partner.id],
      );
      await expect(insert).rejects.toThrow('the audience is deleted');
    });
    expect(await audiences.get(kept.audienceId)).toMatchObject({ unique_devices: 4 });
  });

  it('replays a deletion with the same Idempotency-Key', async () => {
    const { audienceId } = await audiences.create('Once', 'a.csv');
    const remove = () =>
      audiences.request(`${audiencePath}/${audienceId}`, {
        method: 'DELETE',
        headers: { 'idempotency-key': `delete-${audienceId}` },
      });
    expect((await remove()).status).toBe(204);
    const again = await remove();
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([204, 'true']);
  });

  it("ends an audience's event stream when the audience is deleted", { timeout: 60_000 }, async () => {
    const { audienceId } = await audiences.create('Streamed', 'a.csv');
    await audiences.settled(audienceId);
    const waiting = audiences.request(`${audiencePath}/${audienceId}`, {
      headers: {
        prefer: 'wait=30',
        'if-none-match': (await audiences.request(`${audiencePath}/${audienceId}`)).headers.get('etag') ?? '',
      },
    });
    await audiences.remove(audienceId);
    expect((await waiting).status).toBe(404);
  });

  it('lets only the partner list the audiences of one customer or of all customers', async () => {
    const [acme, globex] = [await market.partner.createCustomer('Acme'), await market.partner.createCustomer('Globex')];
    const url = market.service.url;
    const ofAcme = audienceClient(url, market.partner.apiKey, acme.userToken);
    const ofGlobex = audienceClient(url, market.partner.apiKey, globex.userToken);
    const own = await audiences.create('Own', 'a.csv');
    const theirs = [await ofAcme.create('Of Acme', 'a.csv'), await ofGlobex.create('Of Globex', 'a.csv')];
    await ofGlobex.settled(theirs[1]?.audienceId ?? 0);
    const named = async (query: string) =>
      (await audiences.list(query)).map(({ audience_id, name, customer }) => [audience_id, name, customer]);
    const [acmes, globexs] = [
      [theirs[0]?.audienceId, 'Of Acme', 'Acme'],
      [theirs[1]?.audienceId, 'Of Globex', 'Globex'],
    ];
    expect(await named('?customer=Acme')).toEqual([acmes]);
    expect(await named('?customer=Nobody')).toEqual([]);
    const all = await named('?customer=*');
    expect(all.slice(0, 3)).toEqual([globexs, acmes, [own.audienceId, 'Own', null]]);
    expect(await named('?customer=*&name=of%20a')).toEqual([acmes]);
    expect(await named('?customer=*&status=2&name=globex')).toEqual([globexs]);
    expect((await named('')).map(([, , customer]) => customer)).not.toContain('Acme');
    const pages = await market.api.follow(`${audiencePath}?customer=*&limit=2`);
    const paged = await Promise.all(pages.map(async (page) => audienceListSchema.parse(await page.json())));
    expect(paged.flat().map(({ audience_id }) => audience_id)).toEqual(all.map(([id]) => id));
    for (const query of ['?customer=*', '?customer=Globex', '?customer=Acme']) {
      const problem = await ofAcme.expectProblem('GET', audiencePath + query);
      expect(problem).toMatchObject({ status: 400, errors: [{ parameter: 'customer' }] });
    }
    expect((await ofAcme.list()).map(({ customer }) => customer)).toEqual(['Acme']);
  });
});

describe('canceling and retrying an append while no worker runs', () => {
  let market: Audiences;
  let worker: ServiceProcess | null = null;

  beforeAll(async () => {
    market = await startAudiences('cancel-append');
    await stopProcess(market.service.worker);
    await market.partner.upload('a/1.csv', rows(0, 4));
    await market.partner.upload('a/2.csv', rows(4, 8));
    await market.partner.upload('b.csv', rows(8, 9));
  });
  afterAll(async () => {
    if (worker) await stopProcess(worker.child);
    await market.stop();
  });

  it('cancels waiting appends, which end as failed and can be retried', { timeout: 120_000 }, async () => {
    const { audiences } = market;
    const { audienceId } = await audiences.create('Waiting', 'a/');
    await audiences.append(audienceId, 'b.csv');
    const [second = 0, first = 0] = (await audiences.history(audienceId)).map(({ append }) => append?.append_id);
    const one = `${audiencePath}/${audienceId}/appends/${first}`;
    expect(await audiences.expectProblem('POST', `${one}/retry`, {})).toMatchObject({ code: 'append_not_retryable' });
    const headers = { 'idempotency-key': 'cancel-append' };
    const cancel = () => audiences.request(`${one}/cancel`, { method: 'POST', headers, body: '{}' });
    expect((await cancel()).status).toBe(204);
    const waiting = (await audiences.history(audienceId))[1]?.append;
    expect(waiting).toMatchObject({ append_id: first, status: 0, cancel_requested_by: 'partner' });
    worker = await startWorker(market.stores.environment, 'cancel-append');
    expect(await audiences.settled(audienceId)).toMatchObject({ status: 3, unique_devices: 1 });
    expect((await cancel()).status, 'a replay').toBe(204);
    expect(await audiences.cancel(audienceId, first)).toBe(false);
    const ended = await audiences.history(audienceId);
    expect(ended.map(({ append }) => [append?.append_id, append?.status, append?.error?.code])).toEqual([
      [second, 2, undefined],
      [first, 3, 'job_cancelled'],
    ]);
    expect(ended[1]?.append?.cancel_requested_at).not.toBeNull();
    await audiences.retry(audienceId, first, 'failed');
    const done = await audiences.settled(audienceId);
    expect(done).toMatchObject({ status: 2, unique_devices: 9 });
    expect(done.file.map(({ status }) => status)).toEqual([2, 2, 2]);
  });
});
