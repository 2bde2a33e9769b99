import { DeleteObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import * as fc from 'fast-check';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { purgeGenerations } from '../../src/usecases/admin/maintenance.ts';
import { createCustomer, createUserToken } from '../../src/usecases/admin/manage-keys.ts';
import { audienceClient } from '../acceptance/audience-client.ts';
import {
  type Caller,
  type Scope,
  expectedAudiences,
  expectedMembers,
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
import { makeKnown, selectOnShards } from '../support/below-the-api.ts';
import { topologies } from '../support/environment.ts';
import { rememberSecrets } from '../support/known-secrets.ts';
import { type Service, startService } from '../support/running-service.ts';
import { silentLog } from '../support/silent-log.ts';
import { places, stagedLoads } from '../support/stage-places.ts';
import { type TestStores, createStores, withDatabase } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';
import { type Wired, newBarePartner, wireUp } from '../support/wired.ts';

// Two partners and three customers at once, over HTTP, with real processes, against a small model. The sweeps that mend
// lost wake-ups and drop left-over stages are off: whatever they would mend is a mistake here.

/** On each topology: some minutes of CI. For a long look, 150 and more. */
const runCount = 50;
const runsAtATime = 8;
/** To repeat what failed, put the seed of the message here. */
const seed = Date.now() % 2 ** 31;

/** Partner 1: its own audiences, those of A and those of B. Partner 2: those of C. */
const customersOf: readonly (readonly (string | null)[])[] = [[null, 'A', 'B'], ['C']];

describe.each(topologies)('audiences after any interleaving, on a cluster of size %s', (topology) => {
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
      for (const scope of caller.scopes) {
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

  /** As a worker does it, only more often: there are many partners, and each worker looks once in ten seconds. */
  const purge = (): Promise<void> => purgeGenerations({ ...deps, log: silentLog }, new AbortController().signal);

  it(`are what a model says, for ${runCount} runs with the seed ${seed}`, { timeout: 3_600_000 }, async () => {
    const scripts = fc.sample(arbitraryScript(customersOf.map(({ length }) => length)), { seed, numRuns: runCount });
    const over = new AbortController();
    let next = 0;
    const runs = async (): Promise<void> => {
      for (let run = next++; run < runCount && !over.signal.aborted; run = next++) {
        const script = scripts[run] ?? [];
        const callers = await Promise.all(customersOf.map(newCaller));
        try {
          await Promise.all(callers.map((caller, index) => goThrough(caller, script[index] ?? [])));
        } catch (error) {
          over.abort();
          const who = callers.map(({ id }) => id).join(' and ');
          const what = error instanceof Error ? error.message : String(error);
          throw new Error(`seed ${seed}, run ${run}, partners ${who}: ${what}\n${describeScript(script)}`, {
            cause: error,
          });
        }
      }
    };
    const purges = async (): Promise<void> => {
      while (!over.signal.aborted) {
        await purge();
        await pause(10_000, undefined, { signal: over.signal }).catch(() => undefined);
      }
    };
    const purging = purges();
    // To the end of all: a run that goes on would disturb what is looked at next.
    const ends = await Promise.allSettled(Array.from({ length: runsAtATime }, runs));
    over.abort();
    await purging;
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
    expect(next).toBeGreaterThanOrEqual(runCount);
  });

  it('leave nothing behind: no token, no open job, no stage', async () => {
    await waitUntil(
      'no token is left',
      async () => (await count(`SELECT count(*) FROM pgboss.job WHERE state < 'completed'`)) === 0,
    );
    expect(await count('SELECT count(*) FROM job WHERE status < 2')).toBe(0);
    expect(await count('SELECT count(*) FROM job WHERE cancelled AND cleaned_at IS NULL')).toBe(0);
    expect(await count('SELECT count(*) FROM job WHERE cancelled')).toBeGreaterThan(0);
    expect(await deps.stage.listStaged()).toEqual({ loadIds: [], jobIds: [] });
    expect(await stagedLoads(stores)).toEqual([]);
  });

  // Of some partners: a purge writes a new name for every part of the table, whoever's it is.
  it('leave no row of a generation that was cleared, after the second look', { timeout: 300_000 }, async () => {
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
      await withDatabase(stores, (client) => client.query('UPDATE partner SET purge_after = now()'));
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
