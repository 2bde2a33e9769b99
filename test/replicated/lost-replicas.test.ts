import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { clickhouseAudienceWarehouse } from '../../src/adapters/clickhouse/audience-warehouse.ts';
import { type Engine, closeEngine, connectEngine } from '../../src/adapters/clickhouse/connect.ts';
import { clickhouseLoadStage } from '../../src/adapters/clickhouse/load-stage.ts';
import { migrateEngine } from '../../src/adapters/clickhouse/migrate.ts';
import { findReplicaDifferences } from '../../src/adapters/clickhouse/replica-audit.ts';
import { clickhouseWarehouse } from '../../src/adapters/clickhouse/warehouse.ts';
import { versionsOfJob } from '../../src/domain/job.ts';
import { defaultLimits } from '../../src/domain/limits.ts';
import type { Load, LoadStage } from '../../src/ports/load-stage.ts';
import type { AudienceWarehouse, Warehouse } from '../../src/ports/warehouse.ts';
import { device } from '../support/device-id.ts';
import { attributeLoad, memberLoad, streamedFile } from '../support/staging.ts';
import { waitUntil } from '../support/wait-until.ts';
import {
  type Replica,
  type ReplicatedServers,
  commandOn,
  engineSettings,
  killReplica,
  replicasOf,
  selectOn,
  startReplicatedServers,
  untilItSucceeds,
} from './replicated-servers.ts';

const { signal } = new AbortController();
const { maxLineBytes } = defaultLimits;
const keys = [{ key: 'sport', attributeId: 11 }];
const devices = Array.from({ length: 200 }, (_, index) => device(index));

/** A process of the service, with its connections and its knowledge about the servers. */
type Process = {
  readonly engine: Engine;
  readonly stage: LoadStage;
  readonly warehouse: Warehouse;
  readonly audiences: AudienceWarehouse;
};

describe.each([
  ['the shared staging table', 1_000_000],
  ['its own staging tables', 1],
])('a load in %s', (_place, stagingTableBytes) => {
  let servers: ReplicatedServers;
  const database = 'lost_replicas';
  /** The ID of the current test's partner and job. */
  let number = 0;
  let lastLoadId = 0;
  const connected: Engine[] = [];

  const newProcess = (replicasRequired = 2): Process => {
    const engine = connectEngine({
      ...engineSettings(servers, database),
      replicasRequired,
      replicaLostAfterMs: 200,
      name: 'test',
    });
    connected.push(engine);
    return {
      engine,
      stage: clickhouseLoadStage(engine, stagingTableBytes),
      warehouse: clickhouseWarehouse(engine),
      audiences: clickhouseAudienceWarehouse(engine),
    };
  };
  const newLoad = (jobId = number): Load => {
    lastLoadId += 1;
    return attributeLoad(lastLoadId, { id: jobId, partnerId: number });
  };
  const stageDevices = async ({ stage }: Process, load: Load): Promise<void> =>
    stage.stage(
      load,
      streamedFile(load, load.loadId, devices.map((id) => `${id},sport\n`).join('')),
      maxLineBytes,
      signal,
    );
  const sum = (rows: readonly number[]): number => rows.reduce((total, one) => total + one, 0);
  const rowsOn = async (replica: Replica, table = 'device_attributes_local'): Promise<number> => {
    const condition = table === 'device_attributes_local' ? `partner_id = ${number}` : 'true';
    return Number(
      (await selectOn(replica, `SELECT toString(count()) FROM ${table} FINAL WHERE ${condition}`, database))[0],
    );
  };
  /** The number of rows on all first replicas and on all second replicas. */
  const rowsPerReplica = async (table?: string): Promise<number[]> => {
    const rows = await Promise.all(
      [0, 1]
        .map((index) => replicasOf(servers, index))
        .map((pair) => Promise.all(pair.map((one) => rowsOn(one, table)))),
    );
    return [0, 1].map((replica) => sum(rows.map((ofShard) => ofShard[replica] ?? 0)));
  };

  beforeAll(async () => {
    servers = await startReplicatedServers();
    await migrateEngine({ ...engineSettings(servers, database), folder: 'migrations/clickhouse' });
  });
  afterAll(async () => {
    await Promise.all(connected.splice(0).map(closeEngine));
    await servers.stop();
  });
  beforeEach(async () => {
    await Promise.all(connected.splice(0).map(closeEngine));
    servers = await servers.startAgain();
    number += 1;
    await untilItSucceeds(() => newProcess().warehouse.writeJobKeys(number, keys));
  });

  it('a load is on both replicas when it is published', async () => {
    const worker = newProcess();
    const load = newLoad();
    await stageDevices(worker, load);
    expect(sum(await worker.stage.countStaged(load, []))).toBe(devices.length);
    expect(sum(await worker.warehouse.publish(load))).toBe(devices.length);
    expect(await rowsPerReplica()).toEqual([devices.length, devices.length]);
    expect(await worker.warehouse.publishDevices(number, [load.loadId])).toEqual({
      rows: devices.length,
      devices: devices.length,
    });
    expect(await rowsPerReplica('known_devices_local')).toEqual([devices.length, devices.length]);
    expect(await findReplicaDifferences(worker.engine)).toEqual([]);
  });

  it('a load waits for a replica that is down, and names the replica', async () => {
    const worker = newProcess();
    const load = newLoad();
    await stageDevices(worker, load);
    await killReplica(replicasOf(servers, 0)[1]);
    await expect
      .poll(() => worker.warehouse.publish(load).then(String, String), { timeout: 10_000 })
      .toMatch(/replicas_behind: Only 1 of 2 replicas of shard 1 .* Waiting for replica 2/);
    servers = await servers.startAgain();
    await untilItSucceeds(() => worker.warehouse.publish(load));
    expect(await rowsPerReplica()).toEqual([devices.length, devices.length]);
  });

  it('a load is published while a replica is down if one copy is enough', async () => {
    const worker = newProcess(1);
    await killReplica(replicasOf(servers, 0)[1]);
    await killReplica(replicasOf(servers, 1)[0]);
    const load = newLoad();
    await untilItSucceeds(async () => {
      await worker.stage.dropLoad(load.loadId);
      await stageDevices(worker, load);
    });
    expect(sum(await worker.stage.countStaged(load, []))).toBe(devices.length);
    expect(sum(await worker.warehouse.publish(load))).toBe(devices.length);
    servers = await servers.startAgain();
    await waitUntil(
      'the other replicas have the rows',
      async () => String(await rowsPerReplica()) === `${devices.length},${devices.length}`,
      30,
    );
  });

  it('a load counts as incomplete if the replica with its staged rows is lost', async () => {
    const worker = newProcess();
    const load = newLoad();
    await stageDevices(worker, load);
    const staged = await worker.stage.countStaged(load, []);
    await killReplica(replicasOf(servers, 0)[0]);
    const left = await untilItSucceeds(() => worker.stage.countStaged(load, []));
    expect(left).toEqual([0, staged[1]]);
  });

  it("a load uses the job's keys on a server that was down when the keys were written", async () => {
    await killReplica(replicasOf(servers, 0)[0]);
    const jobId = 1000 + number;
    const writer = newProcess();
    await untilItSucceeds(() => writer.warehouse.writeJobKeys(jobId, keys));
    servers = await servers.startAgain();
    const worker = newProcess();
    // The load ID selects the shard whose first replica receives the bytes.
    const newAttempt = (): Load => ({ ...newLoad(jobId), loadId: 2 * (lastLoadId += 1) });
    const first = newAttempt();
    await expect(stageDevices(worker, first)).rejects.toThrow('did not have the keys of the job');
    await worker.stage.dropLoad(first.loadId);
    const second = newAttempt();
    await stageDevices(worker, second);
    expect((await worker.stage.countRows(second)).get(second.loadId)).toMatchObject({ accepted: devices.length });
    lastLoadId *= 2;
  });

  it('a load is counted only on a replica that has its rows', async () => {
    const worker = newProcess(1);
    const audience = { partnerId: number, audienceId: number, generation: 1 };
    for (const index of [0, 1]) await commandOn(replicasOf(servers, index)[1], 'SYSTEM STOP FETCHES', database);
    const load = memberLoad(newLoad().loadId, { jobId: number, ...audience });
    await worker.stage.stage(
      load,
      streamedFile(load, load.loadId, devices.map((id) => `${id},\n`).join('')),
      maxLineBytes,
      signal,
    );
    await worker.audiences.publish(load, [load.loadId]);
    await killReplica(replicasOf(servers, 0)[0]);
    // The remaining replica of the first shard lacks the rows, so counting fails instead of returning a wrong count.
    await expect(worker.audiences.countDevices({ ...audience, id: number }, devices.length)).rejects.toThrow(
      /replicas_behind/,
    );
    servers = await servers.startAgain();
    const { unique } = await untilItSucceeds(() =>
      newProcess(1).audiences.countDevices({ ...audience, id: number }, 1),
    );
    expect(unique).toBe(devices.length);
    for (const index of [0, 1]) await commandOn(replicasOf(servers, index)[1], 'SYSTEM START FETCHES', database);
  });

  it('a load is deleted only when every replica has deleted its rows', async () => {
    const worker = newProcess();
    const load = newLoad();
    await stageDevices(worker, load);
    await worker.warehouse.publish(load);
    await killReplica(replicasOf(servers, 1)[1]);
    const rows = { partnerId: number, attributeIds: [11], versions: versionsOfJob(number) };
    await expect
      .poll(() => worker.warehouse.deleteAttributeRows(rows).then(String, String), { timeout: 10_000 })
      .toMatch(/shard 2 .* Waiting for replica 2/);
    servers = await servers.startAgain();
    await waitUntil(
      'the rows are deleted',
      () =>
        worker.warehouse.deleteAttributeRows(rows).then(
          (isDone) => isDone,
          () => false,
        ),
      60,
    );
    expect(await rowsPerReplica()).toEqual([0, 0]);
  });
});
