import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { advisoryLocks } from '../../src/adapters/postgres/db/advisory-locks.ts';
import type { LaneStep } from '../../src/ports/lane-store.ts';
import { type TestStores, createStores, withDatabase } from '../support/stores.ts';
import { type Wired, newBarePartner, wireUp } from '../support/wired.ts';

// Tests that certain work does not start between the two parts of a backup. See docs/decisions/backup.md.

describe('while a backup pauses the lanes', () => {
  let stores: TestStores;
  let deps: Wired;
  let partnerId: number;

  beforeAll(async () => {
    stores = await createStores('one');
    deps = await wireUp(stores);
    partnerId = (await newBarePartner(deps)).id;
    await withDatabase(stores, async (client) => {
      await client.query(
        `WITH queued AS (INSERT INTO job (partner_id, seq, kind) VALUES ($1, 1, 'import') RETURNING id)
         INSERT INTO import_log (job_id, partner_id, log_type, file_path, path_type, key_type)
         SELECT id, $1, 0, 'some.csv', 0, 0 FROM queued`,
        [partnerId],
      );
      await client.query(
        `WITH made AS (INSERT INTO audience (partner_id, name, generation) VALUES ($1, 'Cleared', 1) RETURNING id)
         INSERT INTO dead_generation (audience_id, generation, partner_id) SELECT id, 0, $1 FROM made`,
        [partnerId],
      );
    });
  });
  afterAll(async () => {
    await deps.close();
    await stores.drop();
  });

  const nextStep = (): Promise<LaneStep> => deps.lanes.nextStep({ partnerId, id: randomUUID(), retryCount: 0 }, 16);
  const unknown = { loadIds: [4_711], jobIds: [4_711] };
  const whilePaused = (run: () => Promise<void>): Promise<void> =>
    withDatabase(stores, async (client) => {
      await client.query('SELECT pg_advisory_lock($1)', [advisoryLocks.backupCut]);
      await run();
    });

  it('a lane takes no step and continues afterward', async () => {
    await whilePaused(async () => expect(await nextStep()).toEqual({ do: 'rest' }));
    expect(await nextStep()).toMatchObject({ do: 'prepare' });
  });

  it('no staged rows are treated as orphaned, because a cleared load can still be live in the backup', async () => {
    await whilePaused(async () => {
      const live = await deps.files.findLive(unknown);
      expect(live).toEqual({ loadIds: new Set(unknown.loadIds), jobIds: new Set(unknown.jobIds) });
    });
    expect(await deps.files.findLive(unknown)).toEqual({ loadIds: new Set(), jobIds: new Set() });
  });

  it('no purge starts', async () => {
    await whilePaused(async () => expect(await deps.audiences.claimDueGenerations(10)).toEqual([]));
    expect(await deps.audiences.claimDueGenerations(10)).toHaveLength(1);
  });

  it("the pause ends when the session that holds the lock ends, even if the session's process was killed", async () => {
    await expect(
      whilePaused(async () => {
        expect(await nextStep()).toEqual({ do: 'rest' });
        throw new Error('killed');
      }),
    ).rejects.toThrow('killed');
    expect(await nextStep()).toMatchObject({ do: 'prepare' });
  });
});
