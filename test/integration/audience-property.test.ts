import { DeleteObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { purgeGenerations } from '../../src/usecases/admin/maintenance.ts';
import { createCustomer, createUserToken } from '../../src/usecases/admin/manage-keys.ts';
import { audienceClient } from '../acceptance/audience-client.ts';
import {
  type Caller,
  type Scope,
  expectedAudiences,
  dismissFirst,
  expectedMembers,
  retryCanceled,
  shownAudiences,
  takeStep,
  waitForLoads,
} from '../support/audience-callers.ts';
import type { ModelFile } from '../support/audience-model.ts';
import {
  type Change,
  type Round,
  arbitraryScript,
  bytesOf,
  describeScript,
  knownDevices,
} from '../support/audience-scripts.ts';
import { assertInLanes, campaignSeed, runsOf } from '../support/campaign.ts';
import { topologies } from '../support/environment.ts';
import { rememberSecrets } from '../support/known-secrets.ts';
import { type Service, startService } from '../support/running-service.ts';
import { makeKnown, selectOnShards, stagedLoads } from '../support/shard-tables.ts';
import { silentLog } from '../support/silent-log.ts';
import { places } from '../support/staging-places.ts';
import { type TestStores, createStores, withDatabase } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';
import { type Wired, newBarePartner, wireUp } from '../support/wired.ts';

// Two partners and three customers call the API concurrently. The test runs real processes and compares the result with
// a small model. The sweeps that recover lost wake-ups and drop orphaned staging tables are disabled, because this
// test treats anything that they would repair as a bug.

/** The number of scripts on each topology. */
const runs = runsOf({ short: 3, long: 60 });

/**
 * Partner 1 has its own audiences and the audiences of customers A and B. Partner 2 has only the audiences of customer
 * C.
 */
const customersOf: readonly (readonly (string | null)[])[] = [[null, 'A', 'B'], ['C']];

const testedTopologies = inject('campaign') === 'long' ? topologies : (['two'] as const);

describe.each(testedTopologies)('audiences after any interleaving, on topology %s', (topology) => {
  let stores: TestStores;
  let service: Service;
  let deps: Wired;

  beforeAll(async () => {
    stores = await createStores(topology);
    deps = await wireUp(stores);
    await makeKnown(stores, knownDevices);
    await withDatabase(stores, (client) =>
      client.query(
        `INSERT INTO sweep (name, ran_at) SELECT name, now() + interval '1 day'
         FROM unnest(ARRAY['wake lanes', 'drop orphaned stages', 'purge generations']) AS name`,
      ),
    );
    const [shared, room] = places;
    const { roomBytes } = topology === 'one' ? shared : room;
    const environment = { ...stores.environment, INLET_ROOM_BYTES: String(roomBytes) };
    service = await startService(environment, `audience-property-${topology}`);
  });
  afterAll(async () => {
    await service.stop();
    await deps.close();
    await stores.drop();
  });

  const newCaller = async (customers: readonly (string | null)[]): Promise<Caller> => {
    const { id, name, prefix, apiKey } = await newBarePartner(deps);
    const scopes: Scope[] = [];
    for (const customer of customers) {
      const userToken = customer === null ? undefined : await newUserToken(name, customer);
      scopes.push({ api: audienceClient(service.url, apiKey, userToken), audiences: [] });
    }
    return { id, prefix, scopes };
  };

  const newUserToken = async (partner: string, customer: string): Promise<string> => {
    await createCustomer(deps, partner, customer);
    const { token } = await createUserToken(deps, partner, customer);
    rememberSecrets(token.reveal());
    return token.reveal();
  };

  const change = async ({ prefix }: Caller, files: Map<string, ModelFile>, { path, file }: Change): Promise<void> => {
    const object = { Bucket: stores.config.INLET_S3_BUCKET, Key: prefix + path };
    if (file) {
      await deps.s3.send(new PutObjectCommand({ ...object, Body: bytesOf(path, file) }));
      files.set(path, file);
    } else {
      await deps.s3.send(new DeleteObjectCommand(object));
      files.delete(path);
    }
  };

  const goThrough = async (caller: Caller, rounds: readonly Round[]): Promise<void> => {
    const files = new Map<string, ModelFile>();
    for (const { changes, steps } of rounds) {
      for (const toDo of changes) await change(caller, files, toDo);
      await Promise.all(
        caller.scopes.map(async (scope, index) => {
          for (const step of steps[index] ?? []) await takeStep(scope, files, step);
        }),
      );
      for (const scope of caller.scopes) await waitForLoads(scope);
      for (const scope of caller.scopes) await retryCanceled(scope, files);
      for (const scope of caller.scopes) {
        expect(await shownAudiences(scope)).toEqual(expectedAudiences(scope, caller.prefix));
        await dismissFirst(scope, caller.prefix);
        expect(await shownAudiences(scope)).toEqual(expectedAudiences(scope, caller.prefix));
      }
    }
    expect(await membersBelow(caller.id)).toEqual(expectedMembers(caller));
  };

  const liveGenerations = async (partnerId: number | null): Promise<string[]> =>
    withDatabase(stores, async (client) => {
      const { rows } = await client.query<{ live: string }>(
        `SELECT id || ' ' || generation AS live FROM audience WHERE partner_id = coalesce($1, partner_id)`,
        [partnerId],
      );
      return rows.map(({ live }) => live);
    });

  const membersBelow = async (partnerId: number): Promise<string[]> => {
    const live = (await liveGenerations(partnerId)).map((generation) => `(${generation.replace(' ', ', ')})`);
    return selectOnShards(
      stores,
      `SELECT concat(toString(audience_id), ' ', toString(device), ' ', event) FROM audience_devices_local FINAL
       WHERE partner_id = ${partnerId} AND (audience_id, generation) IN (${live.join(', ')})`,
    );
  };

  const count = async (query: string): Promise<number> =>
    withDatabase(stores, async (client) => Number((await client.query<{ count: string }>(query)).rows[0]?.count));

  /** Purges generations of many partners, because a worker purges only one partner every ten seconds. */
  const purge = (): Promise<void> =>
    purgeGenerations({ ...deps, log: silentLog, purgeWaitSeconds: 0 }, new AbortController().signal);

  it(`audiences match a model for ${runs} scripts with the seed ${campaignSeed}`, { timeout: 3_600_000 }, async () => {
    const over = new AbortController();
    const purges = async (): Promise<void> => {
      while (!over.signal.aborted) {
        await purge();
        await pause(10_000, undefined, { signal: over.signal }).catch(() => undefined);
      }
    };
    const purging = purges();
    const script = arbitraryScript(customersOf.map(({ length }) => length));
    try {
      const passed = await assertInLanes(script, { runs, lanes: 8 }, async (rounds) => {
        const callers = await Promise.all(customersOf.map(newCaller));
        try {
          await Promise.all(callers.map((caller, index) => goThrough(caller, rounds[index] ?? [])));
        } catch (error) {
          const partners = callers.map(({ id }) => id).join(' and ');
          const reason = error instanceof Error ? error.message : String(error);
          throw new Error(`partners ${partners}: ${reason}\n${describeScript(rounds)}`, { cause: error });
        }
      });
      expect(passed).toBe(runs);
    } finally {
      over.abort();
      await purging;
    }
  });

  it('audiences leave no token, open job, or staging table behind', async () => {
    await waitUntil(
      'no token is left',
      async () => (await count(`SELECT count(*) FROM pgboss.job WHERE state < 'completed'`)) === 0,
    );
    expect(await count('SELECT count(*) FROM job WHERE status < 2')).toBe(0);
    expect(await count('SELECT count(*) FROM job WHERE cancelled AND cleaned_at IS NULL')).toBe(0);
    expect(await count('SELECT count(*) FROM job WHERE cancelled')).toBeGreaterThan(0);
    expect(await deps.stage.listStaged('all')).toEqual({ loadIds: [], jobIds: [] });
    expect(await stagedLoads(stores)).toEqual([]);
  });

  // Checks only some partners, because a purge renames every part of the table.
  it('audiences have no rows of a cleared generation after the second purge', { timeout: 300_000 }, async () => {
    const partners = await withDatabase(stores, async (client) => {
      await client.query(`UPDATE dead_generation SET check_at = 'infinity'`);
      const { rows } = await client.query<{ partner_id: string }>(
        `UPDATE dead_generation SET dead_at = now() - interval '2 hours', check_at = now() WHERE partner_id IN
           (SELECT DISTINCT partner_id FROM dead_generation ORDER BY partner_id DESC LIMIT 20) RETURNING partner_id`,
      );
      return rows.map((row) => row.partner_id);
    });
    const left = `SELECT count(*) FROM dead_generation WHERE purged_at IS NULL AND check_at < 'infinity'`;
    while ((await count(left)) > 0) {
      await withDatabase(stores, (client) =>
        client.query(`UPDATE sweep SET next_at = NULL WHERE name = 'purge generations'`),
      );
      await purge();
    }
    const found = await selectOnShards(
      stores,
      `SELECT DISTINCT concat(toString(audience_id), ' ', toString(generation)) FROM audience_devices_local
       WHERE partner_id IN (${partners.join(', ')})`,
    );
    expect(found.length).toBeGreaterThan(0);
    expect([...new Set(found).difference(new Set(await liveGenerations(null)))]).toEqual([]);
  });
});
