import { createClient } from '@clickhouse/client';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Failure } from '../../src/domain/failure.ts';
import { withTopology } from '../../src/entry/connect-engine.ts';
import { createLogger } from '../../src/entry/logging.ts';
import { migrate } from '../../src/entry/migrate.ts';
import { checkTopology } from '../../src/usecases/admin/topology.ts';
import { apiClient } from '../acceptance/api-client.ts';
import { device } from '../support/device-id.ts';
import { configFor } from '../support/environment.ts';
import { createPartner } from '../support/partners.ts';
import { runInlet } from '../support/run-inlet.ts';
import { type ServiceProcess, startApi, startWorker, stopProcess } from '../support/running-service.ts';
import { selectOnShards } from '../support/shard-tables.ts';
import { type TestStores, createStores, withDatabase } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';

const log = createLogger({ name: 'topology-test', level: 'silent' });

describe('the recorded topology', () => {
  let stores: TestStores;
  let other: TestStores;
  const processes: ServiceProcess[] = [];
  beforeAll(async () => {
    [stores, other] = await Promise.all([createStores('two'), createStores('two')]);
  });
  afterEach(async () => {
    await Promise.all(processes.splice(0).map(({ child }) => stopProcess(child)));
  });
  afterAll(async () => {
    await Promise.all([stores.drop(), other.drop()]);
  });

  const urls = (): string[] => stores.config.INLET_CLICKHOUSE_URLS.flat().map((url) => url.reveal());
  const differencesWith = async (changes: Readonly<Record<string, string>>): Promise<string> =>
    (await withTopology(configFor({ ...stores.environment, ...changes }), log, checkTopology)).join('\n');

  it('matches the configured shards of a correct configuration', async () => {
    expect(await differencesWith({})).toBe('');
  });

  it.each<[string, () => Record<string, string>, RegExp]>([
    ['a missing shard', () => ({ INLET_CLICKHOUSE_URLS: urls()[0] ?? '' }), /lists 1 shards, but 2 are recorded/],
    ['swapped shards', () => ({ INLET_CLICKHOUSE_URLS: urls().toReversed().join() }), /leads to shard 2/],
    ['one shard twice', () => ({ INLET_CLICKHOUSE_URLS: [urls()[0], urls()[0]].join() }), /URL 2 .* leads to shard 1/],
    ['an extra shard', () => ({ INLET_CLICKHOUSE_URLS: [...urls(), urls()[0]].join() }), /lists 3 shards/],
    ['a cluster with fewer shards', () => ({ INLET_CLICKHOUSE_CLUSTER: 'inlet_one' }), /use cluster "inlet_two"/],
    ['an unknown cluster', () => ({ INLET_CLICKHOUSE_CLUSTER: 'nowhere' }), /cluster "nowhere" is \[\]/],
    ['another database', () => ({ INLET_CLICKHOUSE_DATABASE: other.database }), /leads to an unknown shard/],
    ['a database that does not exist', () => ({ INLET_CLICKHOUSE_DATABASE: 'absent' }), /without a shard identity/],
  ])('differs from a configuration with %s', async (_what, changes, expected) => {
    expect(await differencesWith(changes())).toMatch(expected);
  });

  it('stops a worker that is configured with one of two shards, and lets a correct worker load the file', async () => {
    const partner = await createPartner(stores.environment);
    const attribute = await partner.createAttribute('x');
    const api = await startApi(stores.environment, 'topology');
    processes.push(
      api,
      await startWorker({ ...stores.environment, INLET_CLICKHOUSE_URLS: urls()[0] ?? '' }, 'topology'),
    );
    const rows = Array.from({ length: 1000 }, (_, n) => `${device(n + 1)},${attribute}\n`);
    await partner.upload('1.csv', rows.join(''));
    const client = apiClient(api.url, partner.apiKey);
    const id = await client.queue({ file_path: '1.csv', key_type: 0 });
    await waitUntil('the worker has had time to claim the token', () =>
      withDatabase(stores, async (database) => {
        const { rows: old } = await database.query(
          `SELECT FROM pgboss.job WHERE name = 'lane' AND created_on < now() - interval '4 seconds'`,
        );
        return old.length > 0;
      }),
    );
    expect((await client.get(id)).status).toBe(0);
    expect(await selectOnShards(stores, 'SELECT toString(count()) FROM staged_attributes_local')).toEqual(['0', '0']);
    processes.push(await startWorker(stores.environment, 'topology'));
    expect(await client.waitForEnd(id)).toMatchObject({ status: 2, total_rows: '1000', unique_devices: '1000' });
    const stored = await selectOnShards(stores, 'SELECT toString(count()) FROM device_attributes_local');
    expect(stored.reduce((sum, count) => sum + Number(count), 0)).toBe(1000);
  });

  it('the topology is checked by /health/ready, which still returns 200', async () => {
    const api = await startApi(
      { ...stores.environment, INLET_CLICKHOUSE_URLS: urls().toReversed().join() },
      'topology',
    );
    processes.push(api);
    const response = await fetch(`${api.url}/health/ready`);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ dependencies: { clickhouse: 'ok', topology: 'unavailable' } });
  });

  it('the topology is checked by doctor and printed by `inlet topology`', async () => {
    const wrong = { ...stores.environment, INLET_CLICKHOUSE_URLS: urls().toReversed().join() };
    const [doctor, shown, good] = await Promise.all([
      runInlet(wrong, ['doctor']),
      runInlet(wrong, ['topology']),
      runInlet(stores.environment, ['topology']),
    ]);
    expect(doctor.code).toBe(1);
    expect(doctor.out).toMatch(/FAIL {3}Topology: URL 1 in INLET_CLICKHOUSE_URLS leads to shard 2\./);
    expect([shown.code, good.code]).toEqual([1, 0]);
    expect(shown.out).toContain('leads to shard 2');
    expect(good.out).toContain('match the record');
  });

  it('stops a migration, before it changes ClickHouse, if the configured shards differ from the record', async () => {
    const wrong = configFor({ ...stores.environment, INLET_CLICKHOUSE_URLS: urls().toReversed().join() });
    await expect(migrate(wrong, log)).rejects.toThrow(Failure);
  });

  it('the recorded topology can be changed only if no row would be misplaced or lost', async () => {
    const environment = {
      ...stores.environment,
      INLET_CLICKHOUSE_URLS: urls()[0] ?? '',
      INLET_CLICKHOUSE_CLUSTER: 'inlet_one',
    };
    const refused = await runInlet(environment, ['topology', 'change', '--confirm']);
    expect(refused.code).not.toBe(0);
    expect(refused.err).toMatch(/use cluster "inlet_two"/);
    // A replacement server has another identity, and the old server's rows are lost.
    const replaced = createClient({ url: urls()[1] ?? '', database: stores.database });
    await replaced.command({ query: 'TRUNCATE TABLE shard_identity' });
    await replaced.close();
    const lost = await runInlet(stores.environment, ['topology', 'change', '--confirm']);
    expect(lost.err).toContain('Shard 2 is no longer configured. Its rows would be lost.');
    const planned = await runInlet(stores.environment, ['topology', 'change', '--accept-lost-shards']);
    expect(planned.out).toContain('Nothing was changed');
    expect(await differencesWith({})).not.toBe('');
    const changed = await runInlet(stores.environment, ['topology', 'change', '--confirm', '--accept-lost-shards']);
    expect(changed.out).toContain('0 of ');
    expect(await differencesWith({})).toBe('');
  });
});
