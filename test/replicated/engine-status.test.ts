import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Engine, closeEngine, connectEngine } from '../../src/adapters/clickhouse/connect.ts';
import { clickhouseEngineStatus } from '../../src/adapters/clickhouse/engine-status.ts';
import { migrateEngine } from '../../src/adapters/clickhouse/migrate.ts';
import type { ReplicaState } from '../../src/ports/engine-status.ts';
import { isAlive } from '../support/is-alive.ts';
import { waitUntil } from '../support/wait-until.ts';
import {
  type ReplicatedServers,
  commandOn,
  engineSettings,
  killReplica,
  replicasOf,
  startReplicatedServers,
} from './replicated-servers.ts';

/** A read takes at most two seconds. On a busy machine, the test itself waits for CPU time. */
const longestMs = 3_000;

describe('the state of replicated shards', () => {
  let servers: ReplicatedServers;
  let engine: Engine;
  const database = 'engine_status';

  const read = async (): Promise<readonly ReplicaState[]> => {
    const start = performance.now();
    const urls = servers.shards.map((replicas) => replicas.map(({ url }) => new URL(url.reveal()).origin));
    const replicas = await clickhouseEngineStatus(engine, urls).read();
    expect(performance.now() - start).toBeLessThan(longestMs);
    return replicas;
  };
  /** Waits until the second replica of the first shard is in a given state. */
  const waitForSecond = (what: string, isSo: (replica: ReplicaState) => boolean): Promise<void> =>
    waitUntil(what, async () => (await read()).some((one) => one.shard === 1 && one.replica === 2 && isSo(one)), 90);

  beforeAll(async () => {
    servers = await startReplicatedServers();
    await migrateEngine({ ...engineSettings(servers, database), folder: 'migrations/clickhouse' });
    engine = connectEngine({ ...engineSettings(servers, database), name: 'test' });
  });
  afterAll(async () => {
    await closeEngine(engine);
    await servers.stop();
  });

  it('shows every replica with its replication state', async () => {
    await waitUntil('all replicas respond', async () => (await read()).every(({ state }) => state !== null), 30);
    const replicas = await read();
    expect(replicas.map(({ shard, replica }) => `${shard}-${replica}`)).toEqual(['1-1', '1-2', '2-1', '2-2']);
    for (const { state } of replicas) {
      expect(state?.replication).toMatchObject({ isReadOnly: false, isSessionExpired: false, delaySeconds: 0 });
    }
  });

  it('shows how far a replica is behind, and then that it is unreachable', async () => {
    const [first, second] = replicasOf(servers, 0);
    await commandOn(second, 'SYSTEM STOP FETCHES', database);
    await commandOn(first, 'INSERT INTO known_devices_local SELECT generateUUIDv4()', database);
    await waitForSecond('the second replica is behind', ({ state }) => (state?.replication?.queuedTasks ?? 0) > 0);
    await killReplica(second);
    await waitForSecond('the second replica is down', ({ problem }) => problem?.includes('ECONNREFUSED') === true);
    await waitUntil('only that replica is not reachable', async () => {
      const replicas = await read();
      return String(replicas.map(({ state }) => state !== null)) === 'true,false,true,true';
    });
    const [ok] = await read();
    expect(ok?.state?.replication).toMatchObject({ isReadOnly: false, queuedTasks: 0 });
    servers = await servers.startAgain();
    await waitForSecond('the second replica is back', ({ state }) => state?.replication?.isReadOnly === false);
  });

  it('shows replicas without Keeper as read-only, and responds in time', async () => {
    for (const pid of servers.zookeeperPids) process.kill(pid, 'SIGKILL');
    await waitUntil('ZooKeeper has ended', () => Promise.resolve(!servers.zookeeperPids.some(isAlive)));
    await waitForSecond('the replica is read-only', ({ state }) => state?.replication?.isReadOnly === true);
    expect((await read()).length).toBe(4);
  });
});
