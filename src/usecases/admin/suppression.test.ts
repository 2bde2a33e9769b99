import { describe, expect, it } from 'vitest';
import { maxSuppressedHashes } from '../../domain/suppression.ts';
import type { RecordedList, SuppressionEngine, SuppressionRecords } from '../../ports/suppression.ts';
import { changeSuppression } from './suppression.ts';

const current: RecordedList = { version: 4, hashes: 1, checksum: '1', standInKey: 'key', changedAt: new Date() };

/** Two servers whose lists have these numbers of hashes. */
function startList(hashes: readonly [number, number], copied = hashes) {
  const sets = new Set<number>([current.version]);
  const changes: string[] = [];
  let [list, inSet] = [current, (count: number) => count];
  let counts = hashes;
  const engine: SuppressionEngine = {
    writeKey: () => Promise.resolve(),
    write: () => Promise.resolve(),
    copyMissing: async () => {
      changes.push('copy');
      counts = copied;
    },
    measure: async (version) =>
      counts.map((count, shard) => ({
        shard,
        replica: 1,
        hashes: count,
        checksum: String(count),
        inSet: sets.has(version) ? inSet(count) : null,
      })),
    createSets: async (version) => {
      changes.push('create');
      sets.add(version);
    },
    dropOtherSets: async (version) => {
      for (const one of sets) if (one !== version) sets.delete(one);
    },
    countMatches: () => Promise.resolve([]),
  };
  const records: SuppressionRecords = {
    read: async () => list,
    reserveVersion: () => Promise.resolve(5),
    setCurrent: async (changed) => {
      list = { ...list, ...changed };
    },
    countOutdatedJobs: () => Promise.resolve(0),
  };
  async function* added(): AsyncGenerator<string> {
    yield await Promise.resolve('hash');
  }
  return {
    sets,
    changes,
    damageSets: (): void => {
      inSet = (count) => count - 1;
    },
    current: (): number => list.version,
    add: () => changeSuppression({ records, engine }, { isRemoval: false, hashes: added(), actor: 'test' }),
  };
}

describe('a change to the suppression list', () => {
  it('replaces the sets of all servers', async () => {
    const list = startList([2, 2]);
    expect(await list.add()).toMatchObject({ version: 5, hashes: 2 });
    expect([...list.sets]).toEqual([5]);
  });

  it('copies missing hashes to a server before it builds a set', async () => {
    const list = startList([2, 1], [2, 2]);
    await list.add();
    expect(list.changes).toEqual(['copy', 'create']);
  });

  it('builds no set above the limit', async () => {
    const list = startList([maxSuppressedHashes + 1, maxSuppressedHashes + 1]);
    await expect(list.add()).rejects.toThrow(`at most ${maxSuppressedHashes} hashes`);
    expect(list.changes).toEqual([]);
    expect(list.current()).toBe(current.version);
  });

  it('builds no set while the servers differ', async () => {
    const list = startList([2, 1], [3, 2]);
    await expect(list.add()).rejects.toMatchObject({ code: 'internal' });
    expect(list.changes).toEqual(['copy']);
  });

  it('drops an incomplete set', async () => {
    const list = startList([2, 2]);
    list.damageSets();
    await expect(list.add()).rejects.toMatchObject({ code: 'internal' });
    expect([...list.sets]).toEqual([current.version]);
    expect(list.current()).toBe(current.version);
  });
});
