import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { getAudience } from '../../src/usecases/follow/read-audiences.ts';
import { device } from '../support/device-id.ts';
import { rows } from '../support/file-rows.ts';
import { type Audiences, joinAudiences } from '../support/start-audiences.ts';
import { withDatabase } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';
import { type Wired, wireUp } from '../support/wired.ts';

// Whoever follows a record is told of a change when its mark is another. So no two states of a record may have one mark,
// and each change must be told of: both are looked at while real jobs run.

describe('the marks of records', () => {
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

  type Look = { readonly mark: string; readonly isFinal: boolean; readonly status: number; readonly record: string };
  /** Null when it changed while it was looked at. */
  type TakeLook = () => Promise<Look | null>;

  const looksAtImport =
    (id: number): TakeLook =>
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
  const looksAtAudience =
    (id: number): TakeLook =>
    async () => {
      const scope = { partnerId: service.partner.id, customerId: null };
      const [before] = await deps.audiences.marksOf([id]);
      const details = await getAudience(deps, scope, id);
      const [after] = await deps.audiences.marksOf([id]);
      if (!before || !after || before.mark !== after.mark) return null;
      return { ...before, status: details.audience.status, record: JSON.stringify(details) };
    };

  /** Looks until the record is final; complains of two records with one mark. */
  async function watch(take: TakeLook, isEnd: (look: Look) => boolean): Promise<string[]> {
    const recordOf = new Map<string, string>();
    const complaints: string[] = [];
    for (;;) {
      const look = await take();
      if (!look) continue;
      const known = recordOf.get(look.mark);
      if (known !== undefined && known !== look.record) complaints.push(`${look.mark}: ${known} and ${look.record}`);
      recordOf.set(look.mark, look.record);
      if (look.isFinal !== look.status >= 2)
        complaints.push(`${look.mark}: final is ${look.isFinal} of ${look.record}`);
      if (isEnd(look)) return complaints;
    }
  }

  it('differ whenever the record does, while jobs run', async () => {
    const first = await service.api.queue({ file_path: 'import/', key_type: 1, compressed: false });
    const behind = await service.api.queue({ file_path: 'import/0.csv', key_type: 1 });
    const missing = await service.api.queue({ file_path: 'none.csv', key_type: 1 });
    const { audienceId } = await service.audiences.create('Summer', 'members/');
    const isEnd = ({ status }: Look): boolean => status >= 2;
    const complaints = await Promise.all([
      ...[first, behind, missing].map((id) => watch(looksAtImport(id), isEnd)),
      watch(looksAtAudience(audienceId), isEnd),
    ]);
    expect(complaints).toEqual([[], [], [], []]);
  });

  it('differ whenever an audience is appended to and cleared', async () => {
    const { audienceId } = await service.audiences.create('Winter', 'members/0.csv');
    let marks = 0;
    const isOver = { now: false };
    const watching = watch(looksAtAudience(audienceId), () => {
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

  it('are those of the record only, and of none that does not exist', async () => {
    expect(await deps.importLogs.marksOf([999_999])).toEqual([]);
    expect(await deps.audiences.marksOf([999_999])).toEqual([]);
    expect(await deps.audiences.marksOf([])).toEqual([]);
  });

  it('are told of: each step of an audience and of an import notifies its partner', async () => {
    const told: string[] = [];
    await withDatabase(service.stores, async (client) => {
      client.on('notification', ({ payload }) => void told.push(payload ?? ''));
      await client.query('LISTEN inlet_records');
      /** A commit can be seen before others hear of it. They hear in the order of the commits, so also of this one last. */
      const hearAll = async (): Promise<void> => {
        await client.query("NOTIFY inlet_records, 'the last'");
        await waitUntil('all was heard', () => Promise.resolve(told.includes('the last')));
        told.splice(told.indexOf('the last'), 1);
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
        told.length = 0;
        await step();
        await hearAll();
        // Started, claimed (of an audience), staged, loaded, ended.
        expect(told.length, name).toBeGreaterThanOrEqual(4);
        expect(new Set(told), name).toEqual(new Set([String(service.partner.id)]));
      }
      const { audience_id: audienceId } = (await service.audiences.list())[0] ?? { audience_id: 0 };
      await waitUntil('no job is open', async () => {
        const open = await client.query('SELECT FROM job WHERE status IN (0, 1)');
        return open.rowCount === 0;
      });
      await hearAll();
      told.length = 0;
      await service.audiences.clear(audienceId);
      await hearAll();
      expect(told).toEqual([String(service.partner.id)]);
    });
  });
});
