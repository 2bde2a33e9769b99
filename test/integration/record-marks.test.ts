import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { getAudience } from '../../src/usecases/follow/read-audiences.ts';
import { device } from '../support/device-id.ts';
import { rows } from '../support/file-rows.ts';
import { type Audiences, joinAudiences } from '../support/start-audiences.ts';
import { withDatabase } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';
import { type Wired, wireUp } from '../support/wired.ts';

// A subscriber detects changes to a record by its mark. Different states of a record must therefore have different
// marks, and each change must send a notification. The tests check both while real jobs run.

describe('record marks', () => {
  let service: Audiences;
  let deps: Wired;

  beforeAll(async () => {
    service = await joinAudiences();
    deps = await wireUp(service.stores);
    await service.partner.createAttribute('sport', 'sport');
    for (let n = 0; n < 6; n++) {
      await service.partner.upload(`import/${n}.csv`, `${device(n)},sport\nnonsense,sport\n`);
      await service.partner.upload(`members/${n}.csv`, n === 3 ? 'nonsense,\n' : rows(n, n + 5));
    }
  });
  afterAll(async () => {
    await deps.close();
    await service.stop();
  });

  type Snapshot = {
    readonly mark: string;
    readonly isFinal: boolean;
    readonly status: number;
    readonly record: string;
  };
  /** Returns null if the record changed while it was read. */
  type TakeSnapshot = () => Promise<Snapshot | null>;

  const importSnapshot =
    (id: number): TakeSnapshot =>
    async () => {
      const [before] = await deps.importLogs.marksOf([id]);
      const log = await deps.importLogs.find(service.partner.id, id);
      const [after] = await deps.importLogs.marksOf([id]);
      if (!before || !after || !log || before.mark !== after.mark) return null;
      const { progress, ...rest } = log;
      const shown = { ...rest, ...progress, secondsLeft: null };
      const record = JSON.stringify(shown, (_key, value: unknown) =>
        typeof value === 'bigint' ? String(value) : value,
      );
      return { ...before, status: log.status, record };
    };
  const audienceSnapshot =
    (id: number): TakeSnapshot =>
    async () => {
      const scope = { partnerId: service.partner.id, customerId: null };
      const [before] = await deps.audiences.marksOf([id]);
      const details = await getAudience(deps, scope, id, true);
      const [after] = await deps.audiences.marksOf([id]);
      if (!before || !after || before.mark !== after.mark) return null;
      const { summary } = details;
      const progress = { ...summary.progress, secondsLeft: null };
      const record = JSON.stringify({ ...details, summary: { ...summary, progress } });
      return { ...before, status: details.audience.status, record };
    };

  /**
   * Reads the record until `isEnd` returns true. Returns an error for any two different records with the same mark.
   */
  async function watch(take: TakeSnapshot, isEnd: (snapshot: Snapshot) => boolean): Promise<string[]> {
    const recordOf = new Map<string, string>();
    const mismatches: string[] = [];
    for (;;) {
      const snapshot = await take();
      if (!snapshot) continue;
      const known = recordOf.get(snapshot.mark);
      if (known !== undefined && known !== snapshot.record)
        mismatches.push(`${snapshot.mark}: ${known} and ${snapshot.record}`);
      recordOf.set(snapshot.mark, snapshot.record);
      if (snapshot.isFinal !== snapshot.status >= 2)
        mismatches.push(`${snapshot.mark}: final is ${snapshot.isFinal} of ${snapshot.record}`);
      if (isEnd(snapshot)) return mismatches;
    }
  }

  it('record marks differ whenever the record differs while jobs run', async () => {
    const first = await service.api.queue({ file_path: 'import/', key_type: 1, compressed: false });
    const behind = await service.api.queue({ file_path: 'import/0.csv', key_type: 1 });
    const missing = await service.api.queue({ file_path: 'none.csv', key_type: 1 });
    const { audienceId } = await service.audiences.create('Summer', 'members/');
    const isEnd = ({ status }: Snapshot): boolean => status >= 2;
    const mismatches = await Promise.all([
      ...[first, behind, missing].map((id) => watch(importSnapshot(id), isEnd)),
      watch(audienceSnapshot(audienceId), isEnd),
    ]);
    expect(mismatches).toEqual([[], [], [], []]);
  });

  it('record marks change with every append and clear of an audience', async () => {
    const { audienceId } = await service.audiences.create('Winter', 'members/0.csv');
    let marks = 0;
    const isOver = { now: false };
    const watching = watch(audienceSnapshot(audienceId), () => {
      marks += 1;
      return isOver.now;
    });
    await service.audiences.settled(audienceId);
    await service.audiences.append(audienceId, 'members/1.csv');
    await service.audiences.append(audienceId, 'none.csv');
    await service.audiences.settled(audienceId);
    await service.audiences.append(audienceId, 'members/');
    await service.audiences.clear(audienceId);
    await service.audiences.settled(audienceId);
    isOver.now = true;
    expect(await watching).toEqual([]);
    expect(marks).toBeGreaterThan(5);
  });

  it('record marks are computed without reading the finished files of an audience', async () => {
    const { audienceId: small } = await service.audiences.create('Small', 'members/0.csv');
    const { audienceId: large } = await service.audiences.create('Large', 'members/0.csv');
    await service.audiences.settled(small);
    await service.audiences.settled(large);
    await withDatabase(service.stores, async (client) => {
      await client.query(
        `INSERT INTO job_file (job_id, partner_id, key, path, etag, size, gzip, status, batch_id, audience_id, generation)
         SELECT job_id, partner_id, 'many/' || n, 'many/' || n, md5(n::text), 100, false, 2, n, audience_id, generation
         FROM audience_load, generate_series(1, 30000) n WHERE audience_id = $1`,
        [large],
      );
      await client.query('VACUUM ANALYZE job_file');
    });
    const buffers = await withDatabase(service.stores, async (client) => {
      const buffersOf = async (id: number): Promise<number> => {
        const result = await client.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
          'EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT * FROM audience_marks($1::bigint[])',
          [[id]],
        );
        const plan = result.rows[0]?.['QUERY PLAN'][0].Plan ?? {};
        return (plan['Shared Hit Blocks'] ?? Number.NaN) + (plan['Shared Read Blocks'] ?? Number.NaN);
      };
      // The first call in a session also reads the system catalog.
      await buffersOf(small);
      return { small: await buffersOf(small), large: await buffersOf(large) };
    });
    process.stdout.write(`marks: ${buffers.small} buffers with one file, ${buffers.large} with 30,000\n`);
    expect(buffers.large).toBeLessThan(buffers.small + 20);
  });

  it('record marks are not returned for IDs without a record', async () => {
    expect(await deps.importLogs.marksOf([999_999])).toEqual([]);
    expect(await deps.audiences.marksOf([999_999])).toEqual([]);
    expect(await deps.audiences.marksOf([])).toEqual([]);
  });

  it('record marks change with a notification to the partner at each step of an audience and an import', async () => {
    const notified: string[] = [];
    await withDatabase(service.stores, async (client) => {
      client.on('notification', ({ payload }) => void notified.push(payload ?? ''));
      await client.query('LISTEN inlet_records');
      /**
       * A commit is visible before its notification arrives. Notifications arrive in commit order, so this notification
       * is the last.
       */
      const receiveAll = async (): Promise<void> => {
        await client.query("NOTIFY inlet_records, 'the last'");
        await waitUntil('all notifications have arrived', () => Promise.resolve(notified.includes('the last')));
        notified.splice(notified.indexOf('the last'), 1);
      };
      const steps: [string, () => Promise<unknown>][] = [
        [
          'an import',
          async () => service.api.waitForEnd(await service.api.queue({ file_path: 'import/1.csv', key_type: 1 })),
        ],
        [
          'an audience',
          async () => service.audiences.settled((await service.audiences.create('x', 'members/2.csv')).audienceId),
        ],
      ];
      for (const [name, step] of steps) {
        notified.length = 0;
        await step();
        await receiveAll();
        // The steps are started, claimed (audiences only), staged, loaded, and ended.
        expect(notified.length, name).toBeGreaterThanOrEqual(4);
        expect(new Set(notified), name).toEqual(new Set([String(service.partner.id)]));
      }
      const { audience_id: audienceId } = (await service.audiences.list())[0] ?? { audience_id: 0 };
      await waitUntil('no job is open', async () => {
        const open = await client.query('SELECT FROM job WHERE status IN (0, 1)');
        return open.rowCount === 0;
      });
      await receiveAll();
      notified.length = 0;
      await service.audiences.clear(audienceId);
      await receiveAll();
      expect(notified).toEqual([String(service.partner.id)]);
    });
  });
});
