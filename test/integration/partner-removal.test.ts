import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { rememberSecrets } from '../support/known-secrets.ts';
import { createPartner, issuedSchema } from '../support/partners.ts';
import { deleteReplacedPartsSoon } from '../support/replaced-parts.ts';
import { type Ran, runInlet } from '../support/run-inlet.ts';
import { runOperator } from '../support/run-operator.ts';
import { commandOnShard, selectOnShards } from '../support/shard-tables.ts';
import { type TestStores, createStores, withDatabase } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';

const proofSchema = z.looseObject({
  partner_id: z.int(),
  storage_user: z.string(),
  remaining: z.array(z.looseObject({ place: z.string(), remaining: z.int() })),
});

describe('inlet partner remove', () => {
  let stores: TestStores;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'inlet-removal-'));
    stores = await createStores('two');
    await deleteReplacedPartsSoon(stores);
  });
  afterAll(async () => {
    await stores.drop();
    rmSync(folder, { recursive: true });
  });

  const inlet = (...parameters: string[]): Promise<Ran> => runOperator(stores.environment, parameters);
  const proofFile = (): string => join(folder, 'proof.json');
  const parametersOf = (name: string, confirm: string | number, ...options: string[]): string[] => {
    const confirmed = ['partner', 'remove', name, '--confirm', String(confirm)];
    return [...confirmed, '--proof', proofFile(), ...options];
  };
  const remove = (...given: Parameters<typeof parametersOf>): Promise<Ran> => inlet(...parametersOf(...given));
  const killedAt = async (point: string, name: string): Promise<void> => {
    const { code, out } = await runInlet({ ...stores.environment, INLET_FAILPOINT: point }, parametersOf(name, name));
    expect([code, out]).toEqual([-1, expect.stringContaining('killed at this point')]);
  };
  const removed = async (...given: Parameters<typeof parametersOf>) => {
    const { code, err } = await remove(...given);
    expect(code, err).toBe(0);
    return proofSchema.parse(JSON.parse(readFileSync(proofFile(), 'utf8')));
  };
  const create = async (name: string) => {
    const { code, out, err } = await inlet('partner', 'create', name, '--json');
    expect(code, err).toBe(0);
    const issued = issuedSchema.parse(JSON.parse(out));
    rememberSecrets(issued.api_key, issued.storage.secret_access_key);
    return issued;
  };

  it("does not release a partner's name before its removal has ended", async () => {
    const { id, name } = await createPartner(stores.environment);
    await killedAt('after removals.begin', name);
    const resumed = await inlet('partner', 'resume', name);
    expect([resumed.code, resumed.err]).toEqual([2, expect.stringContaining('is being removed')]);
    for (const point of ['after removals.listOpenJobs', 'after removals.removeRecords']) {
      await killedAt(point, name);
      const refused = await inlet('partner', 'create', name);
      expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('is being removed')]);
    }
    const preview = await inlet('partner', 'remove', name);
    expect([preview.code, preview.err]).toEqual([0, expect.stringContaining('is not finished')]);
    expect(await removed(name, name)).toMatchObject({ partner_id: id });
    await create(name);
  });

  it('drops everything that killed workers have staged for the partner, but nothing of other partners', async () => {
    const [partner, other] = [await createPartner(stores.environment), await createPartner(stores.environment)];
    const stage = async ({ id }: { readonly id: number }, status: number) => {
      const { jobId, exportId } = await withDatabase(stores, async (client) => {
        const job = await client.query<{ id: string }>(
          "INSERT INTO job (partner_id, seq, kind, status) VALUES ($1, 1, 'import', $2) RETURNING id",
          [id, status],
        );
        const made = await client.query<{ id: string }>(
          `INSERT INTO reject_export (partner_id, job_id, folder, status, attempt, claimed_until)
           VALUES ($1, $2, 'rejects/', 1, 1, now() - interval '1 minute') RETURNING id`,
          [id, job.rows[0]?.id],
        );
        return { jobId: job.rows[0]?.id ?? '', exportId: made.rows[0]?.id ?? '' };
      });
      const rejects = `room_rejects_${exportId}_1_rows`;
      await commandOnShard(stores, 0, `CREATE TABLE ${rejects} (line String) ENGINE = MergeTree ORDER BY ()`);
      await commandOnShard(stores, 0, `INSERT INTO ${rejects} VALUES ('rejected')`);
      await commandOnShard(stores, 0, `INSERT INTO job_keys_local VALUES (${jobId}, 'key', 1)`);
      await commandOnShard(stores, 0, `INSERT INTO staged_devices_local VALUES (${jobId}, 1, generateUUIDv4(), 1)`);
      return { jobId, rejects };
    };
    await stage(partner, 2);
    const ofOther = await stage(other, 0);
    // Loads and exports whose records were already removed.
    await commandOnShard(stores, 0, `INSERT INTO staged_members_local VALUES (900000001, 1, generateUUIDv4(), '')`);
    await commandOnShard(stores, 0, 'CREATE TABLE room_rejects_900000001_1_rows (line String) ENGINE = Memory');
    const { remaining } = await removed(partner.name, partner.name);
    const places = new Set(remaining.map(({ place }) => place));
    for (const place of ['staged_attributes', 'staged_members', 'staged_devices', 'job_keys', 'staging_tables'])
      expect(places).toContain(place);
    expect(
      await selectOnShards(
        stores,
        `SELECT name FROM system.tables WHERE database = currentDatabase() AND startsWith(name, 'room_')`,
      ),
    ).toEqual([ofOther.rejects]);
    for (const table of ['job_keys_local', 'staged_devices_local'])
      expect(await selectOnShards(stores, `SELECT toString(job_id) FROM ${table}`)).toEqual([ofOther.jobId]);
    expect(await selectOnShards(stores, 'SELECT toString(load_id) FROM staged_members_local')).toEqual([]);
  });

  it('cannot be completed with --without-storage if it began with a storage user', async () => {
    const { name, s3, bucket, prefix } = await createPartner(stores.environment);
    await killedAt('after removals.begin', name);
    const refused = await remove(name, name, '--without-storage');
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('again without --without-storage')]);
    const list = (): Promise<unknown> => s3.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix }));
    await list();
    expect(await removed(name, name)).toMatchObject({ storage_user: 'removed' });
    await expect(list()).rejects.toMatchObject({ name: 'InvalidAccessKeyId' });
  });

  it('cancels jobs that arrive late, ignores a repair that was killed a day ago, and shows what it waits for', async () => {
    const { id, name } = await createPartner(stores.environment);
    const query = <T extends object>(text: string, ...values: unknown[]): Promise<T[]> =>
      withDatabase(stores, async (client) => (await client.query<T>(text, values)).rows);
    const insertJob = async (status: number): Promise<string> => {
      const [job] = await query<{ id: string }>(
        `WITH made AS (
           INSERT INTO job (partner_id, seq, kind, status)
           SELECT $1, coalesce(max(seq), 0) + 1, 'import', $2 FROM job WHERE partner_id = $1 RETURNING id
         )
         INSERT INTO import_log (job_id, partner_id, log_type, file_path, path_type, key_type)
         SELECT id, $1, 1, 'a.csv', 0, 1 FROM made RETURNING job_id AS id`,
        id,
        status,
      );
      return job?.id ?? '';
    };
    const repaired = await insertJob(2);
    const repair =
      'INSERT INTO repair_load (load_id, partner_id, job_id, started_at) VALUES ($1, $2, $3, now() - $4::interval)';
    await query(repair, 900_000_002, id, repaired, '25 hours');
    await query(repair, 900_000_003, id, repaired, '1 hour');
    const parameters = parametersOf(name, name);
    const running = runInlet(stores.environment, parameters);
    await waitUntil('the removal has begun', async () => {
      const found = await query('SELECT FROM partner_removal WHERE partner_id = $1', id);
      return found.length === 1;
    });
    const late = await insertJob(0);
    await waitUntil(
      'the late job is canceled',
      async () => {
        const found = await query<{ status: number }>('SELECT status FROM job WHERE id = $1 AND cancelled', late);
        return found[0]?.status === 3;
      },
      30,
    );
    const [waiting] = await query<{ step: string }>('SELECT step FROM partner_removal WHERE partner_id = $1', id);
    expect(waiting?.step).toBe('wait');
    await query('DELETE FROM repair_load WHERE load_id = 900000003');
    const { code, err } = await running;
    expect(code, err).toBe(0);
    expect(err).toContain('loads of `inlet repair`: 1; an interrupted repair is ignored from ');
  });

  it('removes a partner only by its ID if a removed partner had the same name', async () => {
    const { id, name } = await createPartner(stores.environment);
    const ofFirst = await removed(name, name);
    const second = await create(name);
    const preview = await inlet('partner', 'remove', name);
    expect(preview.err).toContain(`--confirm ${second.partner_id}`);
    const refused = await remove(name, name);
    expect([refused.code, refused.err]).toEqual([
      2,
      expect.stringMatching(new RegExp(`--confirm ${second.partner_id} .* --confirm ${id} `)),
    ]);
    expect(await removed(name, id)).toEqual(ofFirst);
    const shown = await inlet('partner', 'show', name, '--json');
    expect(JSON.parse(shown.out)).toMatchObject({ partner_id: second.partner_id, state: 'active' });
    expect(await removed(name, second.partner_id)).toMatchObject({ partner_id: second.partner_id });
    expect(await removed(name, id)).toEqual(ofFirst);
    expect(await removed(name, name)).toMatchObject({ partner_id: second.partner_id });
    const unknown = await remove(name, 999_999_999);
    expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining('No partner with the ID 999999999')]);
  });
});
