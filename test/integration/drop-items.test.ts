import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Engine, closeEngine } from '../../src/adapters/clickhouse/connect.ts';
import { clickhouseDropItems } from '../../src/adapters/clickhouse/drop-items.ts';
import { statusOf } from '../../src/domain/drop-policy.ts';
import type { DropItems, ReadList } from '../../src/ports/drop.ts';
import { hashOf } from '../drop/drop-campaign.ts';
import { commandOnShards, selectOnShards } from '../support/shard-tables.ts';
import { type TestStores, createStores } from '../support/stores.ts';
import { connectTestEngine } from '../support/test-engine.ts';

const { signal } = new AbortController();
const policy = { shared: 'opted_out', other_lists: 'leave' } as const;

describe('items from DROP lists in ClickHouse', () => {
  let stores: TestStores;
  let engine: Engine;
  let items: DropItems;

  beforeAll(async () => {
    stores = await createStores('two');
    engine = connectTestEngine(stores);
    items = clickhouseDropItems(engine);
  });
  afterAll(async () => {
    await closeEngine(engine);
    await stores.drop();
  });

  const add = (cycleId: number, list: string, text: string): Promise<ReadList> => {
    const body = Readable.from([Buffer.from(text)], { objectMode: false });
    return items.addList(cycleId, { name: `20260801_4821_${list}.csv`, list }, body, signal);
  };
  const read = async (hashes: AsyncIterable<string> | null): Promise<string[]> => {
    const found: string[] = [];
    if (hashes) for await (const hash of hashes) found.push(hash);
    return [...new Set(found)].toSorted();
  };
  const answersOf = async (cycleId: number, list = 'MAID'): Promise<string> =>
    (await items.answers(cycleId, list, policy, { after: '', limit: 1_000 })).toString();

  it('items are stored on every shard, and invalid lines are counted', async () => {
    const hash = hashOf(randomUUID());
    const lines = [
      `A7kP2xQ9Lm4R,${hash}`,
      `a7kP2xQ9Lm4R,${hash}`,
      `A7kP2xQ9Lm4R,${hash}`,
      `short,${hash}`,
      'A7kP2xQ9Lm4S,not-a-hash',
      `A7kP2xQ9Lm4T,${hash},MAID`,
      '',
    ];
    expect(await add(1, 'MAID', `\uFEFFID,Hash\r\n${lines.join('\r\n')}`)).toMatchObject({ items: 3, invalidLines: 3 });
    expect(await items.countItems(1, 'MAID')).toBe(2);
    const ofShards = await selectOnShards(
      stores,
      'SELECT count() FROM drop_items_local FINAL WHERE cycle_id = 1 AND kind = 0',
    );
    expect(ofShards).toEqual(['2', '2']);
    await items.clear(1);
    expect(await items.countItems(1, 'MAID')).toBe(0);
  });

  it.each([
    ['', 'MAID'],
    ['Id,Hash\n', 'MAID'],
    ['ID,Hash,ListType\n', 'MAID'],
    ['ID,Hash\n', 'Removed'],
    ['x'.repeat(5_000), 'MAID'],
  ])('a list with an unexpected first line is rejected (%#)', async (text, list) => {
    await expect(add(2, list, text)).rejects.toThrow('unexpected first line');
  });

  it('a list can be empty', async () => {
    expect(await add(2, 'MAID', 'ID,Hash\n')).toMatchObject({ items: 0, invalidLines: 0 });
    expect(await items.requestedHashes(2)).toBeNull();
  });

  it('adding a list fails if reading it fails', async () => {
    const body = Readable.from(
      (async function* () {
        yield await Promise.resolve(Buffer.from('ID,Hash\n'));
        throw new Error('damaged');
      })(),
      { objectMode: false },
    );
    await expect(items.addList(3, { name: 'a', list: 'MAID' }, body, signal)).rejects.toThrow('damaged');
  });

  it('a withdrawn hash stays suppressed while another item requests it', async () => {
    const [one, two, three] = [randomUUID(), randomUUID(), randomUUID()].map(hashOf);
    await add(
      10,
      'MAID',
      `ID,Hash\nA00000000001,${one}\nA00000000002,${one}\nA00000000003,${two}\nA00000000004,${three}\n`,
    );
    const removed = `ID,Hash,ListType\nA00000000001,${one},MAID\nA00000000003,${two},MAID\nA00000000004,${three},Email\n`;
    await add(11, 'Removed', removed);
    expect(await read(await items.liftedHashes(11))).toEqual([two]);
    await add(12, 'Removed', `ID,Hash,ListType\nA00000000002,${one},MAID\nA00000000004,${three},MAID\n`);
    // Requested again at the same time.
    await add(12, 'MAID', `ID,Hash\nA00000000004,${three}\n`);
    expect(await read(await items.liftedHashes(12))).toEqual([one]);
  });

  it('items find devices in every table, including rejected lines', async () => {
    const devices = {
      attribute: randomUUID(),
      audience: randomUUID(),
      known: randomUUID(),
      number: randomUUID(),
      rejected: randomUUID(),
      exempt: randomUUID(),
      missing: randomUUID(),
    };
    const insert = (query: string): Promise<void> => commandOnShards(stores, query);
    const { attribute, audience, known, number, rejected, exempt } = devices;
    await insert(
      `INSERT INTO device_attributes_local (partner_id, attribute_id, device, version) VALUES (1, 1, '${attribute}', 1)`,
    );
    await insert(
      `INSERT INTO audience_devices_local (partner_id, audience_id, generation, device) VALUES (1, 1, 1, '${audience}')`,
    );
    await insert(`INSERT INTO known_devices_local (device) VALUES ('${known}'), ('${exempt}'), ('${randomUUID()}')`);
    await insert(`INSERT INTO device_numbers_local (device, number) VALUES ('${number}', 7)`);
    const line = `${rejected.toUpperCase()},unknown-key`;
    await insert(
      `INSERT INTO load_rejects_local (load_id, file_id, reason, row, text) VALUES (1, 1, 'unknown_key', 1, '${line}')`,
    );
    const ids = Object.keys(devices).map((_name, index) => `B0000000000${index}`);
    const lines = Object.values(devices).map((device, index) => `${ids[index]},${hashOf(device)}\n`);
    await add(20, 'MAID', `ID,Hash\n${lines.join('')}B00000000009,${hashOf(attribute)}\n`);
    await items.addExempt(20, [hashOf(exempt)]);
    expect(await read(await items.requestedHashes(20))).not.toContain(hashOf(exempt));
    expect((await items.countRemaining(20)).reduce((sum, { rows }) => sum + rows, 0)).toBe(8);
    expect(await items.match(20, 500, signal)).toBe(5);
    expect(
      await selectOnShards(
        stores,
        'SELECT arraySort(groupUniqArray(toString(device))) FROM erased_devices_local WHERE batch_id = 500',
      ),
    ).toHaveLength(2);
    const facts = { isFound: true, isExempt: false, isShared: false };
    const expected = [
      statusOf({ ...facts, isShared: true }, policy),
      3,
      3,
      3,
      3,
      statusOf({ ...facts, isExempt: true }, policy),
      5,
    ];
    expect(await answersOf(20)).toBe(
      `${ids.map((id, index) => `${id},${expected[index]}\n`).join('')}B00000000009,4\n`,
    );
    // If the search is repeated after the devices were erased, the devices that were found before are still known.
    for (const table of ['device_attributes_local', 'audience_devices_local', 'known_devices_local'])
      await insert(`TRUNCATE TABLE ${table}`);
    await insert('TRUNCATE TABLE load_rejects_local');
    expect(await items.match(20, 501, signal)).toBe(1);
    expect(await answersOf(20)).toContain('B00000000001,3\n');
  });

  it('the answers for items are returned in pages, in the order of the item IDs', async () => {
    const lines = ['zz', 'aa', 'AA', 'Zz', '00'].map((start) => `${start}0000000000,${hashOf(randomUUID())}\n`);
    await add(30, 'MAID', `ID,Hash\n${lines.join('')}`);
    await add(30, 'Email', `ID,Hash\nE00000000000,${hashOf(randomUUID())}\n`);
    const first = await items.answers(30, 'MAID', policy, { after: '', limit: 3 });
    expect(first.toString()).toBe('000000000000,5\nAA0000000000,5\nZz0000000000,5\n');
    const second = await items.answers(30, 'MAID', policy, { after: 'Zz0000000000', limit: 3 });
    expect(second.toString()).toBe('aa0000000000,5\nzz0000000000,5\n');
    expect(await answersOf(30, 'Email')).toBe('E00000000000,5\n');
    expect(await items.countKnown(30, ['aa0000000000', 'aA0000000000', 'E00000000000'])).toBe(1);
    await items.finish(30);
    expect(await items.countKnown(30, ['aa0000000000'])).toBe(1);
    expect(await items.countItems(30, 'Email')).toBe(0);
  });
});
