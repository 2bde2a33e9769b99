import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migratePostgres } from '../../src/adapters/postgres/db/migrate.ts';
import { underMigrationLock } from '../../src/adapters/postgres/db/migration-lock.ts';
import { Secret } from '../../src/domain/secret.ts';
import { startBoundApi } from '../support/bound-api.ts';
import { rememberSecrets } from '../support/known-secrets.ts';
import { ask, callsAt } from '../support/operation-calls.ts';
import { silentLog } from '../support/silent-log.ts';
import { type TestStores, createStores, withDatabase, withServer } from '../support/stores.ts';
import { insertTwoTenants } from '../support/two-tenants.ts';
import { wireUp } from '../support/wired.ts';

// As in production, the database owner is not a superuser. It might not have the privilege to create roles.

describe('a database owner that is not a superuser', () => {
  const name = `inlet_owner_${process.pid}`;
  const roles = { byHand: `${name}_by_hand`, byMigration: `${name}_by_migration` } as const;
  const password = `pw-${process.pid}-${Date.now().toString(36)}`;
  let engineStores: TestStores;
  let stores: TestStores;

  const asAdministrator = (...statements: string[]): Promise<void> =>
    withServer(async (client) => {
      for (const statement of statements) await client.query(statement);
    });
  /** Returns the logged warnings. */
  const migrate = async (apiRole: string): Promise<string[]> => {
    const url = stores.config.INLET_POSTGRES_URL;
    const warnings: string[] = [];
    const log = { ...silentLog, warn: (_fields: object, text: string): void => void warnings.push(text) };
    await underMigrationLock(url, (client) =>
      migratePostgres(client, { url, folder: 'migrations/postgres', apiRole, log }),
    );
    return warnings;
  };
  const start = (role: string): ReturnType<typeof startBoundApi> =>
    startBoundApi({ ...stores.config, INLET_API_ROLE: role }, 'of the caller');

  beforeAll(async () => {
    rememberSecrets(password);
    engineStores = await createStores('one');
    await asAdministrator(`CREATE ROLE ${name} LOGIN PASSWORD '${password}'`, `CREATE DATABASE ${name} OWNER ${name}`);
    const url = new URL(engineStores.config.INLET_POSTGRES_URL.reveal());
    Object.assign(url, { username: name, password, pathname: `/${name}` });
    stores = { ...engineStores, config: { ...engineStores.config, INLET_POSTGRES_URL: new Secret(url.href) } };
  });
  afterAll(async () => {
    await asAdministrator(
      `DROP DATABASE ${name} WITH (FORCE)`,
      `DROP ROLE IF EXISTS ${roles.byHand}, ${roles.byMigration}, ${name}`,
    );
    await engineStores.drop();
  });

  it('a database owner gets instructions if it cannot create the role, and the API does not start', async () => {
    expect(await migrate(roles.byHand)).toEqual([
      expect.stringContaining(`CREATE ROLE ${roles.byHand} NOLOGIN; GRANT`),
    ]);
    await expect(start(roles.byHand)).rejects.toThrow(`CREATE ROLE ${roles.byHand} NOLOGIN; GRANT`);
  });

  it('a database owner uses a role that an administrator created, which restricts the API', async () => {
    await asAdministrator(`CREATE ROLE ${roles.byHand} NOLOGIN`, `GRANT ${roles.byHand} TO ${name}`);
    expect(await migrate(roles.byHand)).toEqual([]);
    const deps = await wireUp(stores);
    const shards = await withDatabase(engineStores, (client) =>
      client.query('SELECT number, identity, weight FROM shard'),
    );
    await deps.db.insertInto('shard').values(shards.rows).execute();
    const { owner, intruder } = await insertTwoTenants(stores, deps);
    await deps.close();
    const api = await start(roles.byHand);
    const statusesFor = async ({ apiKey }: { apiKey: string }): Promise<number[]> => {
      const statuses: number[] = [];
      for (const call of callsAt(owner)) {
        statuses.push((await ask(api.url, call, { authorization: `Bearer ${apiKey}` })).status);
      }
      return statuses;
    };
    expect((await statusesFor(owner)).filter((status) => status >= 300)).toEqual([]);
    expect((await statusesFor(intruder)).filter((status) => status === 404).length).toBeGreaterThan(6);
    await api.stop();
  });

  it('a database owner creates the role itself if it has the privilege', async () => {
    await asAdministrator(`ALTER ROLE ${name} CREATEROLE`);
    expect(await migrate(roles.byMigration)).toEqual([]);
    await (await start(roles.byMigration)).stop();
  });
});
