import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitUntil } from '../support/wait-until.ts';
import {
  type Replica,
  type ReplicatedServers,
  commandOn,
  killReplica,
  replicasOf,
  selectOn,
  startReplicatedServers,
} from './replicated-servers.ts';

// Inlet's tests rely on these properties of the development servers.

describe('the replicas of a shard', () => {
  let servers: ReplicatedServers;
  const replicas = (): [Replica, Replica] => replicasOf(servers, 0);
  const rowsOn = async (replica: Replica): Promise<number> =>
    Number((await selectOn(replica, 'SELECT toString(count()) FROM devices'))[0]);
  const insert = (replica: Replica, from: number, count: number): Promise<unknown> =>
    commandOn(replica, `INSERT INTO devices SELECT number FROM numbers(${from}, ${count})`);

  beforeAll(async () => {
    servers = await startReplicatedServers();
    for (const [index, replica] of replicas().entries()) {
      await commandOn(
        replica,
        `CREATE TABLE devices (id UInt64) ENGINE = ReplicatedMergeTree('/test/devices', '${index}') ORDER BY id`,
      );
    }
  });
  afterAll(() => servers.stop());

  it("replicas copy each other's rows", async () => {
    const [first, second] = replicas();
    await insert(first, 0, 1000);
    await waitUntil('the second replica has the rows', async () => (await rowsOn(second)) === 1000, 10);
    await insert(second, 1000, 1000);
    await waitUntil('the first replica has the rows', async () => (await rowsOn(first)) === 2000, 10);
    expect(await rowsOn(second)).toBe(2000);
  });

  it('a replica catches up after it was killed', async () => {
    await killReplica(replicas()[1]);
    await insert(replicas()[0], 2000, 1000);
    servers = await servers.startAgain();
    await waitUntil('the second replica has the rows', async () => (await rowsOn(replicas()[1])) === 3000, 30);
    expect(await rowsOn(replicas()[0])).toBe(3000);
  });

  it('replicas can be read while ZooKeeper is down and accept rows afterward', async () => {
    for (const pid of servers.zookeeperPids) process.kill(pid, 'SIGKILL');
    expect(await rowsOn(replicas()[0])).toBe(3000);
    servers = await servers.startAgain();
    await waitUntil(
      'the first replica accepts rows',
      () =>
        insert(replicas()[0], 3000, 1000).then(
          () => true,
          () => false,
        ),
      60,
    );
    await waitUntil('the second replica has the rows', async () => (await rowsOn(replicas()[1])) === 4000, 30);
  });
});
