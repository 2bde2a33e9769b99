import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packedRows, rows } from '../support/file-rows.ts';
import { commandOnShards, selectOnShards } from '../support/shard-tables.ts';
import { type Audiences, startAudiences } from '../support/start-audiences.ts';
import { waitUntil } from '../support/wait-until.ts';

describe('clearing an audience', () => {
  let market: Audiences;

  beforeAll(async () => {
    market = await startAudiences('clear-stops-loads');
    await market.partner.upload('small.csv', rows(0, 10));
    // Rows are staged in blocks of 1.5 million, so each file has several blocks.
    const large = await packedRows(4_000_000);
    for (const n of [1, 2]) await market.partner.upload(`large/${n}.csv.gz`, large);
  });
  afterAll(() => market.stop());

  const running = (): Promise<string[]> =>
    selectOnShards(
      market.stores,
      "SELECT query_id FROM system.processes WHERE current_database = currentDatabase() AND startsWith(initial_query_id, 'inlet-load-')",
    );
  /** Returns the ClickHouse exception codes of finished statements. 0 means success, and 394 means canceled. */
  const exceptionCodesOf = async (ids: readonly string[]): Promise<string[]> => {
    await commandOnShards(market.stores, 'SYSTEM FLUSH LOGS query_log');
    const names = ids.map((id) => `'${id}'`).join(', ');
    const log = `SELECT exception_code FROM system.query_log WHERE type != 'QueryStart' AND query_id IN (${names})`;
    return selectOnShards(market.stores, log);
  };
  /** Returns the tables with staged rows: the shared staging table or tables of single loads. */
  const staged = (): Promise<string[]> =>
    selectOnShards(
      market.stores,
      `SELECT DISTINCT table FROM system.parts WHERE database = currentDatabase() AND active AND rows > 0
         AND (table = 'staged_members_local' OR startsWith(table, 'room_'))`,
    );
  it('stops running and queued loads, and then loads files that are appended afterward', async () => {
    const { audienceId } = await market.audiences.create('Under way', 'large/');
    await market.audiences.append(audienceId, 'small.csv');
    const other = await market.audiences.create('Behind', 'small.csv');
    await waitUntil('rows are staged', async () => (await running()).length > 0 && (await staged()).length > 0);
    const details = await market.audiences.get(audienceId);
    expect(details.status).toBe(1);
    expect(details.file.map(({ s3_path, status }) => [s3_path.slice(market.partner.prefix.length), status])).toEqual([
      ['large/1.csv.gz', 1],
      ['large/2.csv.gz', expect.any(Number)],
      ['small.csv', 0],
    ]);
    const loads = await running();
    await market.audiences.clear(audienceId);
    const cleared = performance.now();
    expect(await market.audiences.get(audienceId)).toMatchObject({ status: 2, unique_devices: 0, file: [] });
    await waitUntil('no statement of the load runs', async () => (await running()).length === 0, 5);
    await waitUntil('nothing is staged', async () => (await staged()).length === 0, 5);
    const seconds = (performance.now() - cleared) / 1000;
    process.stdout.write(`clear: a load of 2 files of 4 million rows stopped after ${seconds.toFixed(2)} s\n`);
    expect(seconds).toBeLessThan(2);
    // The running statement was canceled before it completed.
    expect(await exceptionCodesOf(loads)).toContain('394');
    await market.audiences.append(audienceId, 'small.csv');
    expect(await market.audiences.settled(audienceId)).toMatchObject({ status: 2, unique_devices: 10, file: [{}] });
    // The next job in the same lane runs.
    expect(await market.audiences.settled(other.audienceId)).toMatchObject({ status: 2, unique_devices: 10 });
    expect(await staged()).toEqual([]);
  });
});
