import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { initialSuppressionList } from '../../src/domain/suppression.ts';
import {
  type Engine,
  closeEngine,
  jobQueryPrefix,
  loadQueryPrefix,
  newQueryId,
  onEveryShard,
  selectNumber,
  serverFor,
} from '../../src/adapters/clickhouse/connect.ts';
import { dropLoad, stopJob } from '../../src/adapters/clickhouse/drop-stages.ts';
import { readSoFar } from '../../src/adapters/clickhouse/load-stage.ts';
import { type TestStores, createStores } from '../support/stores.ts';
import { connectTestEngine } from '../support/test-engine.ts';
import { waitUntil } from '../support/wait-until.ts';

const number = 4711;
const audience = { kind: 'audience', audienceId: 1, generation: 1 } as const;

describe('installations on the same ClickHouse servers', () => {
  let stores: TestStores[];
  let ours: Engine;
  let theirs: Engine;
  beforeAll(async () => {
    const [first, second] = [await createStores('two'), await createStores('two')];
    stores = [first, second];
    ours = connectTestEngine(first);
    theirs = connectTestEngine(second);
  });
  afterAll(async () => {
    await Promise.all([dropLoad(ours, number), stopJob(ours, number)]);
    await Promise.all([ours, theirs].map(closeEngine));
    for (const one of stores) await one.drop();
  });

  /** Starts a statement of our installation that reads on all shards until it is stopped. */
  const begin = async (prefix: string): Promise<{ end: Promise<unknown>; isRunning: () => Promise<boolean> }> => {
    const query_id = newQueryId(prefix, 'count');
    const end = serverFor(ours, number).command({
      query: 'SELECT sleepEachRow(0.1) FROM clusterAllReplicas({cluster: String}, system.numbers) FORMAT Null',
      query_params: { cluster: ours.cluster },
      query_id,
      clickhouse_settings: { max_block_size: '1' },
    });
    end.catch(() => undefined);
    const isRunning = async (): Promise<boolean> => (await runningOn(query_id)).every((count) => count > 0);
    await waitUntil('the statement runs on all shards', isRunning);
    return { end, isRunning };
  };
  const runningOn = (queryId: string): Promise<number[]> =>
    onEveryShard(ours, (shard) =>
      selectNumber(shard, {
        query: 'SELECT toString(count()) AS number FROM system.processes WHERE initial_query_id = {id: String}',
        query_params: { id: queryId },
      }),
    );

  it("an installation neither stops nor counts another installation's statements for a load with the same number", async () => {
    const suppression = initialSuppressionList;
    const load = { loadId: number, jobId: 1, partnerId: 1, bytes: 1, target: audience, suppression };
    const { end, isRunning } = await begin(loadQueryPrefix(number));
    await waitUntil('the statement has read rows', async () => (await readSoFar(ours, load)).rowsHandled > 0);
    expect(await readSoFar(theirs, load)).toMatchObject({ rowsHandled: 0 });
    await dropLoad(theirs, number);
    expect(await isRunning()).toBe(true);
    await dropLoad(ours, number);
    await expect(end).rejects.toThrow(/cancelled/i);
  });

  it("an installation does not stop another installation's statements for a job with the same number", async () => {
    const { end, isRunning } = await begin(jobQueryPrefix(number));
    await stopJob(theirs, number);
    expect(await isRunning()).toBe(true);
    await stopJob(ours, number);
    await expect(end).rejects.toThrow(/cancelled/i);
  });
});
