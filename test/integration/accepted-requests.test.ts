import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RequestRecords } from '../../src/adapters/postgres/idempotency-store.ts';
import { postgresImportLogStore } from '../../src/adapters/postgres/import-log-store.ts';
import { aesGcmSealer } from '../../src/adapters/vault/aes-gcm-sealer.ts';
import { requestFingerprint } from '../../src/adapters/vault/keys.ts';
import { Failure } from '../../src/domain/failure.ts';
import type { IdempotentRequest } from '../../src/domain/idempotency.ts';
import { importMode, keyType, pathType } from '../../src/domain/import-log.ts';
import { Secret } from '../../src/domain/secret.ts';
import { forgetAcceptedRequests } from '../../src/usecases/admin/maintenance.ts';
import { partnerState } from '../support/partner-state.ts';
import { type TestStores, createPostgresStores, withDatabase } from '../support/stores.ts';
import { type Wired, newBarePartner, wireUp } from '../support/wired.ts';

const request = {
  filePath: 'a.csv',
  pathType: pathType.sharedBucket,
  keyType: keyType.foreignKey,
  compressed: null,
  mode: importMode.merge,
  credentials: null,
};

describe('requests with an idempotency key', () => {
  let stores: TestStores;
  let deps: Wired;
  let partnerId: number;
  let replays: number;

  beforeAll(async () => {
    stores = await createPostgresStores();
    deps = await wireUp(stores);
  });
  afterAll(async () => {
    await deps.close();
    await stores.drop();
  });
  beforeEach(async () => {
    ({ id: partnerId } = await newBarePartner(deps));
    replays = 0;
  });

  const idempotentRequestOf = (key: string, fingerprints = deps.fingerprint('request')): IdempotentRequest => {
    return { key, fingerprints, onReplay: () => void (replays += 1) };
  };
  const submit = (once: IdempotentRequest, maxOpenJobs = 100): Promise<number> =>
    deps.importLogs.submitImport(partnerId, request, maxOpenJobs, once);

  it('does not record a request whose job is rejected, so that the partner can submit it again later', async () => {
    await deps.importLogs.submitImport(partnerId, request, 1);
    await expect(submit(idempotentRequestOf('full'), 1)).rejects.toMatchObject({ code: 'too_many_open_jobs' });
    expect(await partnerState(stores, partnerId)).toMatchObject({ jobs: 1, requests: 0 });
    const id = await submit(idempotentRequestOf('full'), 2);
    expect(replays).toBe(0);
    // The job exists, so the limit no longer applies.
    expect(await submit(idempotentRequestOf('full'), 1)).toBe(id);
    expect(replays).toBe(1);
  });

  it('recognizes a repeated request after a rotation of the sealing key', async () => {
    const [one, two] = [new Secret(`one:${'ab'.repeat(32)}`), new Secret(`two:${'cd'.repeat(32)}`)];
    const id = await submit(idempotentRequestOf('key', requestFingerprint([one])('request')));
    expect(await submit(idempotentRequestOf('key', requestFingerprint([two, one])('request')))).toBe(id);
    await expect(submit(idempotentRequestOf('key', requestFingerprint([two])('request')))).rejects.toMatchObject({
      code: 'idempotency_key_reused',
    });
  });

  it('creates one job per idempotency key for any number of concurrent requests to one lane', async () => {
    // On a slow machine, a request can time out after waiting 2 s for its key. A client then sends the request again.
    const submitAgain = (key: string): Promise<number> =>
      submit(idempotentRequestOf(key)).catch((error: unknown) => {
        if (error instanceof Failure && error.code === 'idempotency_key_in_use') return submitAgain(key);
        throw error;
      });
    const ids = await Promise.all(Array.from({ length: 40 }, (_, n) => submitAgain(`key ${n % 4}`)));
    expect(new Set(ids).size).toBe(4);
    expect(replays).toBe(36);
    expect(await partnerState(stores, partnerId)).toMatchObject({ jobs: 4, records: 4, requests: 4 });
  });

  /** Locks the key as a running request does. Resolves `found` when another request finds the key locked. */
  const holdKey = async (key: string) => {
    const [held, found, end] = [Promise.withResolvers(), Promise.withResolvers(), Promise.withResolvers()];
    const holder = deps.db.transaction().execute(async (tx) => {
      await deps.requests.claim(tx, { partnerId, keyHash: createHash('sha256').update(key).digest() });
      held.resolve(null);
      await end.promise;
    });
    await held.promise;
    const requests: RequestRecords = {
      deleteExpired: (limit) => deps.requests.deleteExpired(limit),
      save: (...given) => deps.requests.save(...given),
      requireRoom: (...given) => deps.requests.requireRoom(...given),
      find: (...given) => deps.requests.find(...given),
      claim: async (...given) => {
        const isTaken = await deps.requests.claim(...given);
        if (!isTaken) found.resolve(null);
        return isTaken;
      },
    };
    const sealer = aesGcmSealer(stores.config.INLET_SEALING_KEYS);
    return {
      importLogs: postgresImportLogStore(deps.db, deps.boss, sealer, requests),
      found: found.promise,
      release: async () => {
        end.resolve(null);
        await holder;
      },
    };
  };

  it('waits for a running request with the same key and runs if that request did nothing', async () => {
    const { importLogs, found, release } = await holdKey('key');
    const waiting = importLogs.submitImport(partnerId, request, 100, idempotentRequestOf('key'));
    await found;
    await release();
    expect(await waiting).toBeGreaterThan(0);
    expect(replays).toBe(0);
    expect(await partnerState(stores, partnerId)).toMatchObject({ jobs: 1, requests: 1 });
  });

  it('rejects a repeated request when the running request takes too long', async () => {
    const { importLogs, release } = await holdKey('key');
    const start = performance.now();
    await expect(importLogs.submitImport(partnerId, request, 100, idempotentRequestOf('key'))).rejects.toMatchObject({
      code: 'idempotency_key_in_use',
    });
    expect(performance.now() - start).toBeGreaterThan(1_900);
    expect(await partnerState(stores, partnerId)).toMatchObject({ jobs: 0, requests: 0 });
    // The partner's other requests do not wait.
    expect(await submit(idempotentRequestOf('another key'))).toBeGreaterThan(0);
    await release();
  });

  it('deletes accepted requests only when they are older than 24 hours', async () => {
    const { id: other } = await newBarePartner(deps);
    await submit(idempotentRequestOf('young'));
    await withDatabase(stores, async (client) => {
      await client.query(
        `INSERT INTO accepted_request (partner_id, key_hash, fingerprint, result, accepted_at)
         SELECT $1, sha256(n::text::bytea), '', '1', now() - interval '24 hours' - n * interval '1 second'
         FROM generate_series(1, 12000) AS n`,
        [other],
      );
    });
    expect(await deps.requests.deleteExpired(7)).toBe(7);
    expect(await partnerState(stores, other)).toMatchObject({ requests: 11_993 });
    await forgetAcceptedRequests(deps);
    expect(await partnerState(stores, other)).toMatchObject({ requests: 0 });
    expect(await partnerState(stores, partnerId)).toMatchObject({ requests: 1 });
    expect(await deps.requests.deleteExpired(7)).toBe(0);
  });

  it('lets only one worker at a time delete old requests', async () => {
    await withDatabase(stores, (client) =>
      client.query(
        `INSERT INTO accepted_request (partner_id, key_hash, fingerprint, result, accepted_at)
         VALUES ($1, '\\x00', '', '1', now() - interval '2 days')`,
        [partnerId],
      ),
    );
    // The second call follows immediately after another sweep.
    await forgetAcceptedRequests(deps);
    await forgetAcceptedRequests(deps);
    expect(await partnerState(stores, partnerId)).toMatchObject({ requests: 1 });
    await withDatabase(stores, (client) =>
      client.query(`UPDATE sweep SET ran_at = now() - interval '1 hour' WHERE name = 'forget accepted requests'`),
    );
    await forgetAcceptedRequests(deps);
    expect(await partnerState(stores, partnerId)).toMatchObject({ requests: 0 });
  });
});
