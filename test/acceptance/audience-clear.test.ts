import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rows } from '../support/file-rows.ts';
import { selectOnShards } from '../support/shard-tables.ts';
import { type Audiences, joinAudiences } from '../support/start-audiences.ts';
import { withDatabase } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';
import { audiencePath } from './audience-client.ts';

const empty = { status: 2, uploaded_devices: 0, unique_devices: 0, matched_devices: 0, file: [] };

describe('clearing an audience', () => {
  let market: Audiences;

  beforeAll(async () => {
    market = await joinAudiences();
    await market.partner.upload('small.csv', rows(0, 10));
    await market.partner.upload('bad.csv', 'nonsense,\n');
  });
  afterAll(() => market.stop());

  const put = (audienceId: number, init: RequestInit): Promise<Response> =>
    market.audiences.request(`${audiencePath}/${audienceId}`, { method: 'PUT', ...init });

  it.each([
    ['no body', {}],
    ['an empty object', { body: '{}' }],
    ['a JSON content type with an empty body', { body: '', headers: { 'content-type': 'application/json' } }],
    ['a JSON content type without a body', { headers: { 'content-type': 'application/json' } }],
  ])(
    'returns 204 without a body for %s and removes all files, counts, errors, and loaded-file entries',
    async (_what, init) => {
      const { audienceId } = await market.audiences.create('Clear', 'small.csv');
      await market.audiences.append(audienceId, 'bad.csv');
      expect(await market.audiences.settled(audienceId)).toMatchObject({ status: 3, unique_devices: 10 });
      const { name, created_at } = await market.audiences.get(audienceId);
      const answer = await put(audienceId, init);
      expect([answer.status, await answer.text()]).toEqual([204, '']);
      expect(await market.audiences.get(audienceId)).toMatchObject({ ...empty, name, created_at });
      expect(await market.audiences.errors(audienceId)).toEqual([]);
      // After the clear, a file that was loaded before is new again.
      await market.audiences.append(audienceId, 'small.csv');
      expect(await market.audiences.settled(audienceId)).toMatchObject({
        status: 2,
        uploaded_devices: 10,
        unique_devices: 10,
        file: [{ status: 2, rows_uploaded: 10 }],
      });
    },
  );

  it.each([
    ['fields', { body: '{"file_path":"a"}' }, 400],
    ['a list', { body: '[]' }, 400],
    ['a number', { body: '1' }, 400],
    ['broken JSON', { body: '{' }, 400],
    ['another media type', { body: 'x', headers: { 'content-type': 'text/csv' } }, 415],
  ])('rejects %s and leaves the audience unchanged', async (_what, init, status) => {
    const { audienceId } = await market.audiences.create('Keep', 'small.csv');
    await market.audiences.settled(audienceId);
    const answer = await put(audienceId, init);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([status, 'application/problem+json']);
    expect(await market.audiences.get(audienceId)).toMatchObject({ status: 2, unique_devices: 10 });
  });

  it('removes exactly the cleared rows from ClickHouse soon after the clear', async () => {
    const { audienceId } = await market.audiences.create('Purge', 'small.csv');
    const neighbor = await market.audiences.create('Neighbor', 'small.csv');
    await market.audiences.settled(neighbor.audienceId);
    const generations = (id: number): Promise<string[]> =>
      selectOnShards(
        market.stores,
        `SELECT DISTINCT generation FROM audience_devices_local WHERE audience_id = ${id}`,
      ).then((found) => [...new Set(found)]);
    expect(await generations(audienceId)).toEqual(['0']);
    await market.audiences.clear(audienceId);
    await market.audiences.append(audienceId, 'small.csv');
    await market.audiences.settled(audienceId);
    await waitUntil('the cleared generation is purged', async () => String(await generations(audienceId)) === '1');
    expect(await market.audiences.get(audienceId)).toMatchObject({ status: 2, unique_devices: 10 });
    expect(await generations(neighbor.audienceId)).toEqual(['0']);
  });

  it('applies every concurrent clear and append', async () => {
    const { audienceId } = await market.audiences.create('Both', 'small.csv');
    for (let round = 0; round < 15; round++) {
      await Promise.all([
        market.audiences.clear(audienceId),
        market.audiences.append(audienceId, 'small.csv'),
        market.audiences.append(audienceId, 'small.csv'),
        market.audiences.clear(audienceId),
        market.audiences.append(audienceId, 'bad.csv'),
      ]);
    }
    await market.audiences.clear(audienceId);
    expect(await market.audiences.get(audienceId)).toMatchObject(empty);
    await market.audiences.append(audienceId, 'small.csv');
    expect(await market.audiences.settled(audienceId)).toMatchObject({ status: 2, unique_devices: 10, file: [{}] });
  });

  it('does not deadlock with an append while the lane is idle', async () => {
    const { audienceId } = await market.audiences.create('Idle', 'small.csv');
    await market.audiences.settled(audienceId);
    await withDatabase(market.stores, async (client) => {
      const isTrue = async (query: string): Promise<boolean> =>
        (await client.query<{ so: boolean }>(`SELECT (${query}) AS so FROM pg_stat_clear_snapshot()`)).rows[0]?.so ===
        true;
      const laneIsIdle = "SELECT count(*) = 0 FROM pgboss.job WHERE name = 'lane' AND state < 'completed'";
      await waitUntil('the lane is idle', () => isTrue(laneIsIdle));
      const waiting = (calls: number): Promise<void> =>
        waitUntil(
          `${calls} calls wait for a lock`,
          () =>
            isTrue(`SELECT count(*) = ${calls} FROM pg_stat_activity
              WHERE datname = current_database() AND wait_event_type = 'Lock' AND application_name = 'inlet-api'`),
          15,
        );
      // Locks the audience row, so that both calls wait for it at the same time.
      await client.query('BEGIN');
      await client.query('SELECT FROM audience WHERE id = $1 FOR UPDATE', [audienceId]);
      const calls = [market.audiences.clear(audienceId)];
      await waiting(1);
      calls.push(market.audiences.append(audienceId, 'small.csv'));
      await waiting(2);
      await client.query('COMMIT');
      await Promise.all(calls);
    });
    expect(await market.audiences.settled(audienceId)).toMatchObject({ status: 2, unique_devices: 10, file: [{}] });
  });

  it('changes nothing if the audience is empty', async () => {
    const { audienceId } = await market.audiences.create('Twice', 'small.csv');
    await market.audiences.settled(audienceId);
    for (let time = 0; time < 3; time++) await market.audiences.clear(audienceId);
    expect(await market.audiences.get(audienceId)).toMatchObject(empty);
  });
});
