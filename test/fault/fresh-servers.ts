import { execFile } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { readAddresses, stackAddressesSchema } from '../../stack/addresses.ts';
import { serviceEnvironment } from '../../stack/service-environment.ts';
import { configFor, noLimits, testBucket } from '../support/environment.ts';
import { rememberSecrets } from '../support/known-secrets.ts';
import type { TestStores } from '../support/stores.ts';

// Starts a second PostgreSQL server and two more shards, all empty. The object storage is shared with the stack.

export type FreshServers = {
  readonly stores: TestStores;
  /** Moves a backup from the disks of the old shards to the disks of the new shards. */
  readonly bringBackup: (name: string) => void;
  /** Restarts the servers that have exited. */
  readonly startAgain: () => Promise<void>;
};

const database = 'restored';
const run = promisify(execFile);

export async function startFreshServers(directory = `/var/tmp/inlet-fresh-${process.pid}`): Promise<FreshServers> {
  const old = readAddresses();
  const command = async (what: 'up' | 'down'): Promise<string> => {
    const env = { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', INLET_STACK_DIR: directory };
    return (await run(process.execPath, ['stack/cli/stores.ts', what], { env })).stdout;
  };
  const fresh = stackAddressesSchema.parse(JSON.parse(await command('up')));
  rememberSecrets(new URL(fresh.postgres.url).password, new URL(fresh.clickhouse.shards[0]?.httpUrl ?? '').password);
  const client = new Client({ connectionString: fresh.postgres.url });
  await client.connect();
  await client.query(`CREATE DATABASE ${database}`);
  await client.end();
  const addresses = { ...fresh, s3: old.s3, sealingKey: old.sealingKey };
  const environment = {
    ...serviceEnvironment(addresses, { database, bucket: testBucket, topology: 'two' }),
    ...noLimits,
    INLET_API_PORT: '0',
  };
  return {
    stores: { environment, config: configFor(environment), database, drop: async () => void (await command('down')) },
    startAgain: async () => void (await command('up')),
    bringBackup: (name) => {
      for (const shard of ['clickhouse-1', 'clickhouse-2']) {
        const saved = join(old.directory, shard, 'backups', name);
        cpSync(saved, join(directory, shard, 'backups', name), { recursive: true });
        rmSync(saved, { recursive: true });
      }
    },
  };
}
