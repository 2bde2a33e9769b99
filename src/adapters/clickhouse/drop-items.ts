import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { CyclePolicy } from '../../domain/drop-policy.ts';
import { contentOfList, deviceList, dropStatus, InvalidArchive, maxDropItems } from '../../domain/drop.ts';
import type { RemainingRows } from '../../domain/erasure.ts';
import type { DropItems, ReadList } from '../../ports/drop.ts';
import {
  type Engine,
  type Server,
  onAllServers,
  onEveryShard,
  onEveryShardInSync,
  selectNumber,
  syncAllReplicas,
} from './connect.ts';
import { exists } from './erasure/erase-table.ts';
import { checkedId, listKind, listTable, listed } from './erasure/erased-devices.ts';
import { idsInText } from './erasure/erasure-list.ts';
import { hashOfDeviceSql } from './suppression-sql.ts';

const table = 'drop_items_local';

/** What a row stands for. See the migration. */
const itemKind = { requested: 0, withdrawn: 1, exempt: 2, found: 3, other: 4 } as const;

const columns = 'cycle_id, kind, list, item, hash';

/** Published tables with a column `device`. Staged rows belong to jobs, and a cycle waits for these jobs. */
const deviceTables = [
  'device_attributes_local',
  'audience_devices_local',
  'known_devices_local',
  'device_numbers_local',
] as const;

/** The copy of the known devices during a rebuild. */
const rebuiltTable = 'known_devices_next_local';

export function clickhouseDropItems(engine: Engine): DropItems {
  return {
    clear: (cycleId) => dropKinds(engine, cycleId, Object.values(itemKind)),
    addList: (cycleId, file, body, signal) => addList(engine, cycleId, { ...file, body }, signal),
    addExempt: (cycleId, hashes) => addExempt(engine, cycleId, hashes),
    requestedHashes: (cycleId) => hashesOf(engine, `${ofCycle(cycleId, itemKind.requested)} AND ${notExempt(cycleId)}`),
    liftedHashes: (cycleId) => hashesOf(engine, isLifted(cycleId)),
    match: (cycleId, listId, signal) => match(engine, cycleId, listId, signal),
    countRemaining: (cycleId) => countRemaining(engine, cycleId),
    countItems: (cycleId, list) =>
      selectNumber(engine.shards[0][0], {
        query: `SELECT toString(uniqExact(item)) AS number FROM ${table} WHERE ${ofList(cycleId, list)}`,
        query_params: { list },
      }),
    answers: (cycleId, list, policy, page) => readAnswers(engine, cycleId, { list, policy, ...page }),
    countKnown: (cycleId, ids) => countKnown(engine, cycleId, ids),
    finish: (cycleId) => dropKinds(engine, cycleId, [itemKind.exempt, itemKind.found, itemKind.other]),
  };
}

function ofCycle(cycleId: number, kind: number): string {
  return `cycle_id = ${checkedId(cycleId)} AND kind = ${kind}`;
}

/** The items to answer. `list` is a parameter of the query. */
function ofList(cycleId: number, list: string): string {
  return `${ofCycle(cycleId, list === deviceList ? itemKind.requested : itemKind.other)} AND list = {list: String}`;
}

function hashesOfKind(cycleId: number, kind: number): string {
  return `(SELECT hash FROM ${table} WHERE ${ofCycle(cycleId, kind)})`;
}

function notExempt(cycleId: number): string {
  return `hash NOT IN ${hashesOfKind(cycleId, itemKind.exempt)}`;
}

/** The hashes of the devices to erase. */
function erasedHashes(cycleId: number): string {
  return `(SELECT hash FROM ${table} WHERE ${ofCycle(cycleId, itemKind.requested)} AND ${notExempt(cycleId)})`;
}

/**
 * Several consumers can share a device, so a withdrawn hash stays on the list while a requested item has it. An item that
 * was requested again after its withdrawal, or in the same archive, is requested.
 */
function isLifted(cycleId: number): string {
  const withdrawn = `${ofCycle(cycleId, itemKind.withdrawn)} AND list = '${deviceList}'`;
  const requested = `SELECT hash FROM ${table}
    WHERE kind IN (${itemKind.requested}, ${itemKind.withdrawn}) AND list = '${deviceList}'
      AND hash IN (SELECT hash FROM ${table} WHERE ${withdrawn})
    GROUP BY hash, item
    HAVING maxIf(cycle_id, kind = ${itemKind.requested}) >= maxIf(cycle_id, kind = ${itemKind.withdrawn})`;
  return `${withdrawn} AND hash NOT IN (${requested})`;
}

async function dropKinds(engine: Engine, cycleId: number, kinds: readonly number[]): Promise<void> {
  await syncAllReplicas(engine, [table]);
  const partitions = kinds.map((kind) => `DROP PARTITION (${checkedId(cycleId)}, ${kind})`);
  await onEveryShard(engine, (shard) =>
    shard.command({
      query: `ALTER TABLE ${table} ${partitions.join(', ')}`,
      clickhouse_settings: { max_partition_size_to_drop: '0' },
    }),
  );
  await syncAllReplicas(engine, [table]);
}

/** Maximum length of the first line that is read. */
const maxHeaderBytes = 1_024;

/** Removes the first line. Throws if it is not the header. */
async function* withoutHeader(body: Readable, header: string): AsyncGenerator<Buffer> {
  let head: Buffer | null = Buffer.alloc(0);
  for await (const chunk of body as AsyncIterable<Buffer>) {
    if (head === null) {
      yield chunk;
      continue;
    }
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\n');
    if (end === -1 && head.length <= maxHeaderBytes) continue;
    requireHeader(head.subarray(0, Math.max(end, 0)), header);
    if (end + 1 < head.length) yield head.subarray(end + 1);
    head = null;
  }
  if (head !== null) requireHeader(head, header);
}

function requireHeader(line: Buffer, header: string): void {
  if (
    line
      .toString()
      .replace(/^\uFEFF/, '')
      .trimEnd() !== header
  )
    throw new InvalidArchive('contains a list with an unexpected first line');
}

const isItem = `match(fields[1], '^[A-Za-z0-9]{12}$') AND match(fields[2], '^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$')`;

/** The hashes of other lists are not stored. */
const noHash = `toFixedString('', 32)`;

async function addList(
  engine: Engine,
  cycleId: number,
  { name, list, body }: { readonly name: string; readonly list: string; readonly body: Readable },
  signal: AbortSignal,
): Promise<ReadList> {
  const { kind, header } = contentOfList(list);
  const lines = withoutHeader(body, header);
  const first = await lines.next();
  if (first.done) return { name, list, items: 0, invalidLines: 0 };
  const isWithdrawn = kind === 'withdrawn';
  const storedKind = isWithdrawn ? itemKind.withdrawn : kind === 'devices' ? itemKind.requested : itemKind.other;
  const isValid = isWithdrawn
    ? `length(fields) = 3 AND match(fields[3], '^[A-Za-z]{1,20}$') AND ${isItem}`
    : `length(fields) = 2 AND ${isItem}`;
  const values = async function* (): AsyncGenerator<Buffer> {
    yield first.value;
    yield* lines;
  };
  const [server] = engine.shards[0];
  const { stream, summary } = await server.exec({
    query: `INSERT INTO ${table} (${columns})
      SELECT ${checkedId(cycleId)}, ${storedKind}, ${isWithdrawn ? 'fields[3]' : '{list: String}'}, fields[1],
        ${storedKind === itemKind.other ? noHash : 'toFixedString(tryBase64Decode(fields[2]), 32)'}
      FROM (SELECT splitByChar(',', trimRight(line, '\\r')) AS fields FROM input('line String'))
      WHERE ${isValid} LIMIT ${maxDropItems + 1} FORMAT LineAsString`,
    query_params: { list },
    values: Readable.from(values(), { objectMode: false }),
    // Otherwise, duplicates in a block would not be counted.
    clickhouse_settings: { optimize_on_insert: 0 },
    abort_signal: signal,
  });
  await finished(stream.resume());
  await copyToShards(engine, { name: table, condition: ofCycle(cycleId, storedKind), copied: columns, from: 1 });
  const items = Number(summary?.written_rows ?? 0);
  return { name, list, items, invalidLines: Math.max(0, Number(summary?.read_rows ?? 0) - items) };
}

type Copied = {
  readonly name: string;
  readonly condition: string;
  readonly copied: string;
  /** The index of the first shard that needs the rows. */
  readonly from: number;
};

/** Copies the rows of all shards to each shard. Equal rows are merged. */
async function copyToShards(engine: Engine, { name, condition, copied, from }: Copied): Promise<void> {
  await syncAllReplicas(engine, [name]);
  const copy = `INSERT INTO ${name} (${copied}) SELECT ${copied}
    FROM cluster('${engine.cluster}', currentDatabase(), ${name}) WHERE ${condition}`;
  if (engine.shards.length > 1) for (const [server] of engine.shards.slice(from)) await server.command({ query: copy });
  await syncAllReplicas(engine, [name]);
}

async function addExempt(engine: Engine, cycleId: number, hashes: readonly string[]): Promise<void> {
  if (hashes.length === 0) return;
  await onEveryShard(engine, async (shard) => {
    const { stream } = await shard.exec({
      query: `INSERT INTO ${table} (${columns})
        SELECT ${checkedId(cycleId)}, ${itemKind.exempt}, '${deviceList}', '', base64Decode(line) FROM input('line String') FORMAT LineAsString`,
      values: Readable.from([`${hashes.join('\n')}\n`], { objectMode: false }),
    });
    await finished(stream.resume());
  });
  await syncAllReplicas(engine, [table]);
}

/** Returns null if there are none. */
async function hashesOf(engine: Engine, condition: string): Promise<AsyncIterable<string> | null> {
  const [server] = engine.shards[0];
  await syncAllReplicas(engine, [table]);
  const query = `FROM ${table} WHERE ${condition}`;
  if ((await selectNumber(server, { query: `SELECT toString(count()) AS number ${query}` })) === 0) return null;
  return (async function* () {
    const found = await server.query({ query: `SELECT base64Encode(hash) ${query}`, format: 'TabSeparatedRaw' });
    for await (const rows of found.stream()) for (const row of rows) yield row.text;
  })();
}

/** All devices that a server has, with repetitions. Rejected lines can contain devices that are stored nowhere else. */
async function storedDevices(server: Server): Promise<string> {
  const names = (await exists(server, rebuiltTable)) ? [...deviceTables, rebuiltTable] : deviceTables;
  return [
    ...names.map((name) => `SELECT device FROM ${name}`),
    `SELECT arrayJoin(${idsInText}) AS device FROM load_rejects_local`,
  ].join(' UNION ALL ');
}

async function match(engine: Engine, cycleId: number, listId: number, signal: AbortSignal): Promise<number> {
  const tables = [table, ...deviceTables, 'load_rejects_local'];
  await onEveryShardInSync(engine, tables, async (shard) =>
    shard.command({
      query: `INSERT INTO ${listTable} (batch_id, kind, partner_id, device)
        SELECT ${checkedId(listId)}, ${listKind.requested}, 0, device FROM (
          SELECT device FROM (${await storedDevices(shard)}) WHERE ${hashOfDeviceSql('device')} IN ${erasedHashes(cycleId)})
        GROUP BY device`,
      abort_signal: signal,
    }),
  );
  const condition = listed(listId, listKind.requested);
  await copyToShards(engine, { name: listTable, condition, copied: 'batch_id, kind, partner_id, device', from: 0 });
  const found = (devices: string): string => `INSERT INTO ${table} (${columns})
    SELECT DISTINCT ${checkedId(cycleId)}, ${itemKind.found}, '${deviceList}', '', ${hashOfDeviceSql('device')} AS found FROM (${devices})`;
  const hasExempt = (await countOf(engine, ofCycle(cycleId, itemKind.exempt))) > 0;
  await onEveryShardInSync(engine, [listTable, ...tables], async (shard) => {
    const ofErasure = `SELECT device FROM ${listTable} WHERE ${listed(listId, listKind.requested)}`;
    await shard.command({ query: found(ofErasure), abort_signal: signal });
    if (!hasExempt) return;
    const isRequested = `found IN ${hashesOfKind(cycleId, itemKind.requested)}`;
    const query = `${found(await storedDevices(shard))} WHERE ${isRequested} AND found IN ${hashesOfKind(cycleId, itemKind.exempt)}`;
    await shard.command({ query, abort_signal: signal });
  });
  await copyToShards(engine, { name: table, condition: ofCycle(cycleId, itemKind.found), copied: columns, from: 0 });
  const counts = await onEveryShardInSync(engine, [listTable], (shard) =>
    selectNumber(shard, {
      query: `SELECT toString(uniqExact(device)) AS number FROM ${listTable} WHERE ${listed(listId, listKind.requested)}`,
    }),
  );
  if (new Set(counts).size !== 1) throw new Error(`the shards have different lists for cycle ${cycleId}`);
  return counts[0] ?? 0;
}

function countOf(engine: Engine, condition: string): Promise<number> {
  const query = `SELECT toString(count()) AS number FROM ${table} WHERE ${condition}`;
  return selectNumber(engine.shards[0][0], { query });
}

/** An unavailable replica is an error, because its rows are unknown. */
async function countRemaining(engine: Engine, cycleId: number): Promise<RemainingRows[]> {
  await syncAllReplicas(engine, [table, ...deviceTables]);
  const servers = await onAllServers(engine, async (server) => {
    const names = (await exists(server, rebuiltTable)) ? [...deviceTables, rebuiltTable] : deviceTables;
    const counts: { readonly name: string; readonly rows: number }[] = [];
    for (const name of names) {
      const condition = `${hashOfDeviceSql('device')} IN ${erasedHashes(cycleId)}`;
      const query = `SELECT toString(count()) AS number FROM ${name} WHERE ${condition}`;
      counts.push({ name: name.replace(/_local$/, ''), rows: await selectNumber(server, { query }) });
    }
    return counts;
  });
  return servers.flatMap((replicas, shard) =>
    replicas.flatMap((counts, replica) =>
      counts.map(({ name, rows }) => ({ table: name, shard: shard + 1, replica: replica + 1, rows })),
    ),
  );
}

type AnswerPage = {
  readonly list: string;
  readonly policy: CyclePolicy;
  readonly after: string;
  readonly limit: number;
};

/** The rule of `statusOf` in the domain. An item that is listed with several hashes is found if one of them is. */
async function readAnswers(
  engine: Engine,
  cycleId: number,
  { list, policy, after, limit }: AnswerPage,
): Promise<Buffer> {
  const { notFound, exempt, optedOut, deleted } = dropStatus;
  const listedItems = `FROM ${table} WHERE ${ofList(cycleId, list)}`;
  const shared = `(SELECT hash ${listedItems} GROUP BY hash HAVING min(item) != max(item))`;
  const isFound = `hash IN ${hashesOfKind(cycleId, itemKind.found)}`;
  const isExempt = `hash IN ${hashesOfKind(cycleId, itemKind.exempt)}`;
  const ofShared = policy.shared === 'opted_out' ? optedOut : deleted;
  const found = await engine.shards[0][0].query({
    query: `SELECT concat(item, ',', toString(multiIf(
        NOT max(${isFound}), ${notFound},
        minIf(${isExempt}, ${isFound}), ${exempt},
        max(hash IN ${shared}), ${ofShared},
        ${deleted})))
      ${listedItems} AND item > {after: String} GROUP BY item ORDER BY item LIMIT {limit: UInt32}`,
    query_params: { list, after, limit },
    format: 'TabSeparatedRaw',
    // The rows are stored in the order of the hashes.
    clickhouse_settings: { optimize_aggregation_in_order: 1 },
  });
  return Buffer.from(await found.text());
}

const idsPerQuery = 5_000;

async function countKnown(engine: Engine, cycleId: number, ids: readonly string[]): Promise<number> {
  let known = 0;
  for (let start = 0; start < ids.length; start += idsPerQuery)
    known += await selectNumber(engine.shards[0][0], {
      query: `SELECT toString(uniqExact(item)) AS number FROM ${table}
        WHERE ${ofCycle(cycleId, itemKind.requested)} AND item IN ({ids: Array(String)})`,
      query_params: { ids: ids.slice(start, start + idsPerQuery) },
    });
  return known;
}
