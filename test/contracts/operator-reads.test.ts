import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { postgresBackupHistory } from '../../src/adapters/postgres/backup-history.ts';
import { readOnly } from '../../src/adapters/postgres/db/api-role.ts';
import { connectPostgres } from '../../src/adapters/postgres/db/connect.ts';
import type { Database } from '../../src/adapters/postgres/db/tables.ts';
import { postgresOperatorReads } from '../../src/adapters/postgres/operations/operator-reads.ts';
import { Secret } from '../../src/domain/secret.ts';
import type { BackupHistory } from '../../src/ports/backup.ts';
import type { OperatorReads } from '../../src/ports/operations.ts';
import { silentLog } from '../support/silent-log.ts';
import { rememberSecrets } from '../support/known-secrets.ts';
import { type TestStores, createStores, withDatabase } from '../support/stores.ts';
import { type BarePartner, type Wired, newBarePartner, wireUp } from '../support/wired.ts';

describe('operator reads', () => {
  let stores: TestStores;
  let deps: Wired;
  let db: Database;
  let reads: OperatorReads;

  beforeAll(async () => {
    stores = await createStores('one');
    deps = await wireUp(stores);
    const url = readOnly(stores.config.INLET_POSTGRES_URL);
    db = connectPostgres({ url, name: 'test-reads', maxConnections: 2, log: silentLog });
    reads = postgresOperatorReads(db);
  });
  afterAll(async () => {
    await db.destroy();
    await deps.close();
    await stores.drop();
  });

  const submit = ({ id }: BarePartner): Promise<number> =>
    deps.importLogs.submitImport(
      id,
      { filePath: 'a.csv', pathType: 0, keyType: 0, compressed: null, mode: 'merge', credentials: null },
      100,
    );

  it('operator reads cannot change data, even if the URL has other options', async () => {
    await expect(sql`DELETE FROM job`.execute(db)).rejects.toThrow('read-only transaction');
    const url = new URL(stores.config.INLET_POSTGRES_URL.reveal());
    url.searchParams.set('options', '-c work_mem=5MB');
    const other = connectPostgres({
      url: readOnly(new Secret(url.href)),
      name: 'test-reads',
      maxConnections: 1,
      log: silentLog,
    });
    await expect(sql`DELETE FROM job`.execute(other)).rejects.toThrow('read-only transaction');
    expect((await sql`SHOW work_mem`.execute(other)).rows).toEqual([{ work_mem: '5MB' }]);
    await other.destroy();
  });

  it('operator reads need only the privileges that docs/deploy.md grants to the login', async () => {
    const role = `operator_${randomBytes(6).toString('hex')}`;
    const password = randomBytes(18).toString('hex');
    rememberSecrets(password);
    await withDatabase(stores, (client) =>
      client.query(
        `CREATE ROLE ${role} LOGIN PASSWORD '${password}' BYPASSRLS IN ROLE ${stores.config.INLET_API_ROLE}, pg_read_all_data`,
      ),
    );
    const url = new URL(stores.config.INLET_POSTGRES_URL.reveal());
    Object.assign(url, { username: role, password });
    const ofRole = connectPostgres({ url: new Secret(url.href), name: 'test', maxConnections: 1, log: silentLog });
    const limited = postgresOperatorReads(ofRole);
    try {
      const partner = await newBarePartner(deps);
      const jobId = await submit(partner);
      expect((await limited.listLanes({ afterJobId: jobId - 1, limit: 1 }))[0]?.partner).toBe(partner.name);
      expect((await limited.findJob(jobId, 1))?.job.partner).toBe(partner.name);
      expect((await limited.listPartners({ afterId: partner.id - 1, limit: 1 }))[0]?.openJobs).toBe(1);
      expect(await limited.isPaused()).toBe(false);
      expect((await limited.readWaits()).workers).toBe(0);
      expect(await postgresBackupHistory(ofRole).list(1)).toEqual([]);
      await expect(sql`DELETE FROM job`.execute(ofRole)).rejects.toThrow('permission denied');
    } finally {
      await ofRole.destroy();
      await withDatabase(stores, (client) => client.query(`DROP ROLE ${role}`));
    }
  });

  it('counts the usage, the keys, and the open jobs of each partner', async () => {
    const [one, two] = [await newBarePartner(deps), await newBarePartner(deps)];
    await submit(one);
    await deps.attributes.create(one.id, { name: 'sport', foreignKeys: ['a', 'b'] });
    const keyHash = randomBytes(32);
    const expired = await deps.keys.create(one.id, keyHash, { name: '', scopes: null, livesSeconds: 0 });
    await deps.keys.recordUses([expired.id]);
    const listed = await reads.listPartners({ afterId: one.id - 1, limit: 10 });
    expect(listed).toMatchObject([
      {
        name: one.name,
        openJobs: 1,
        apiKeys: { valid: 1, all: 2 },
        lastActiveAt: expect.any(Date) as unknown,
        usage: { attributes: { used: 1 }, foreignKeys: { used: 2 }, storedRows: { used: 0, measuredAt: null } },
      },
      { name: two.name, openJobs: 0, apiKeys: { valid: 1, all: 1 }, lastActiveAt: null },
    ]);
    expect(await reads.listPartners({ afterId: one.id - 1, limit: 1 })).toHaveLength(1);
    expect(await reads.listPartners({ afterId: two.id, limit: 10 })).toEqual([]);
  });

  it('lists each lane once, with its oldest open job', async () => {
    const [one, two] = [await newBarePartner(deps), await newBarePartner(deps)];
    const [first, , second] = [await submit(two), await submit(two), await submit(one)];
    const lanes = await reads.listLanes({ afterJobId: first - 1, limit: 10 });
    expect(lanes.map(({ partner, openJobs, oldestJob }) => [partner, openJobs, oldestJob.id])).toEqual([
      [two.name, 2, first],
      [one.name, 1, second],
    ]);
    expect((await reads.listLanes({ afterJobId: first, limit: 10 })).map(({ partner }) => partner)).toEqual([one.name]);
    expect((await reads.listLanes({ afterJobId: first - 1, limit: 1 })).map(({ partner }) => partner)).toEqual([
      two.name,
    ]);
  });

  it('does not count jobs that are canceled before their start as open jobs', async () => {
    const partner = await newBarePartner(deps);
    const [head, ...waiting] = [await submit(partner), await submit(partner), await submit(partner)];
    for (const id of waiting) await deps.importLogs.cancel(partner.id, id, () => ({ is: 'never started' }));
    const lanes = () => reads.listLanes({ afterJobId: head - 1, limit: 1 });
    expect(await lanes()).toMatchObject([{ partner: partner.name, openJobs: 1 }]);
    expect(await reads.listPartners({ afterId: partner.id - 1, limit: 1 })).toMatchObject([{ openJobs: 1 }]);
    await deps.importLogs.cancel(partner.id, head, () => ({ is: 'never started' }));
    // The lane stays listed until a worker ends its jobs.
    expect(await lanes()).toMatchObject([{ partner: partner.name, openJobs: 0, oldestJob: { id: head } }]);
    expect(await reads.listPartners({ afterId: partner.id - 1, limit: 1 })).toMatchObject([{ openJobs: 0 }]);
  });

  it('counts no workers if none is connected', async () => {
    expect(await reads.readWaits()).toMatchObject({ workers: 0, lanesWithoutToken: 0, silentSeconds: 0 });
    expect(await reads.isPaused()).toBe(false);
  });
});

describe('the backup history', () => {
  let stores: TestStores;
  let deps: Wired;
  let backups: BackupHistory;

  beforeAll(async () => {
    stores = await createStores('one');
    deps = await wireUp(stores);
    backups = postgresBackupHistory(deps.db);
  });
  beforeEach(async () => {
    await sql`TRUNCATE backup`.execute(deps.db);
  });
  afterAll(async () => {
    await deps.close();
    await stores.drop();
  });

  const startedAt = new Date('2026-11-15T01:00:00.000Z');
  const takenAt = new Date('2026-11-15T01:00:01.000Z');
  const record = (failure: string | null): Promise<void> =>
    backups.record({
      startedAt,
      takenAt: failure === null ? takenAt : null,
      bytes: failure === null ? 7 : null,
      destination: '/backups/a',
      failure,
    });

  it('is empty at first', async () => {
    expect(await backups.list(30)).toEqual([]);
    expect(await backups.findNewestComplete()).toBeNull();
  });

  it('lists attempts newest first, and finds the newest complete backup', async () => {
    await record(null);
    await record('no space');
    const listed = await backups.list(30);
    expect(listed).toMatchObject([
      { failure: 'no space', takenAt: null, bytes: null },
      { failure: null, startedAt, takenAt, bytes: 7, destination: '/backups/a' },
    ]);
    expect(await backups.findNewestComplete()).toEqual(listed[1]);
    expect(await backups.list(1)).toEqual([listed[0]]);
  });

  it('keeps 1,000 attempts and the newest complete backup', async () => {
    await record(null);
    await record(null);
    await sql`INSERT INTO backup (started_at, destination, failure)
      SELECT now(), 'x', 'failed' FROM generate_series(1, 1100)`.execute(deps.db);
    await record('failed again');
    const listed = await backups.list(2_000);
    expect(listed.length).toBe(1_001);
    expect(listed.at(-1)).toEqual(await backups.findNewestComplete());
    expect(listed.at(-1)?.failure).toBeNull();
  });
});
