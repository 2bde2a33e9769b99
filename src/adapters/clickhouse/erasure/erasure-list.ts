import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { requireListLength, requireListSize } from '../../../domain/erasure.ts';
import type { PartnerId } from '../../../domain/ids.ts';
import type { BatchScope, ErasureEngine, ErasureQueue } from '../../../ports/erasure.ts';
import {
  type Engine,
  onAllServers,
  onEveryShard,
  onEveryShardInSync,
  selectNumber,
  selectRows,
  syncAllReplicas,
} from '../connect.ts';
import { toLoadFailure } from '../load-failure.ts';
import { isStandIn, keyedHashOf, mayBeStandIn, personOf, personOfHash, standInScope } from '../stand-in-sql.ts';
import { checkedId, listKind, listTable, listed, zeroDevice } from './erased-devices.ts';

/** The rows of a batch are dropped by partition, regardless of their number. */
const dropAnySize = { max_partition_size_to_drop: '0' };

/** Returns the numbers of all lists on all servers. */
export async function findLists(engine: Engine): Promise<number[]> {
  const found = await onAllServers(engine, (server) =>
    selectRows<{ list: string }>(
      server,
      `SELECT DISTINCT extract(partition, '[0-9]+') AS list FROM system.parts
       WHERE active AND database = currentDatabase() AND table = {table: String}`,
      { table: listTable },
    ),
  );
  return [...new Set(found.flat(2).map(({ list }) => Number(list)))];
}

export async function dropList(engine: Engine, listId: number): Promise<void> {
  await dropKinds(engine, listId, Object.values(listKind));
}

/** Mutations on every replica read the list, so every replica must have the same list. */
export async function dropKinds(engine: Engine, listId: number, kinds: readonly number[]): Promise<void> {
  await syncAllReplicas(engine, [listTable]);
  await onEveryShard(engine, (shard) =>
    shard.command({
      query: `ALTER TABLE ${listTable} ${kinds.map((kind) => `DROP PARTITION (${checkedId(listId)}, ${kind})`).join(', ')}`,
      clickhouse_settings: dropAnySize,
    }),
  );
  await syncAllReplicas(engine, [listTable]);
}

export async function addIds(
  engine: Engine,
  listId: number,
  partnerId: PartnerId | null,
  ids: readonly string[],
): Promise<void> {
  const values = ids.map((device) => ({
    batch_id: listId,
    kind: listKind.requested,
    partner_id: partnerId ?? 0,
    device,
  }));
  await onEveryShard(engine, (shard) => shard.insert({ table: listTable, values, format: 'JSONEachRow' }));
  await syncAllReplicas(engine, [listTable]);
}

/** The ID of a line as it is stored. A line that is not an ID gets the zero ID. */
const deviceOfLine = `toUUIDOrZero(if(match(id, '^[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}$'), ${hyphenated(`replaceAll(id, '-', '')`)}, ''))`;

/** Inserts the hyphens into 32 hexadecimal digits. */
function hyphenated(digits: string): string {
  return `replaceRegexpOne(${digits}, '^(.{8})(.{4})(.{4})(.{4})(.{12})$', '\\\\1-\\\\2-\\\\3-\\\\4-\\\\5')`;
}

export const addFile =
  (engine: Engine, maxIds: number): ErasureEngine['addFile'] =>
  async (listId, partnerId, { body, isGzip }, signal) => {
    const [first, ...others] = engine.shards.map(([server]) => server);
    if (!first) throw new Error('an engine has a shard');
    const columns = 'batch_id, kind, partner_id, device';
    const salt = randomBytes(16).toString('hex');
    const hash = createHash('sha256').update(salt);
    let bytes = 0;
    const hashed = (async function* (): AsyncGenerator<Buffer> {
      for await (const chunk of body as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        requireListSize(bytes);
        hash.update(chunk);
        yield chunk;
      }
    })();
    const { stream, summary } = await first
      .exec({
        query: `INSERT INTO ${listTable} (${columns})
        SELECT ${checkedId(listId)}, ${listKind.requested}, ${checkedId(partnerId ?? 0)}, device
        FROM (SELECT ${deviceOfLine} AS device FROM (SELECT lower(trim(BOTH ' \\t\\r"\\'\\xEF\\xBB\\xBF' FROM line)) AS id FROM input('line String')))
        WHERE device != ${zeroDevice} LIMIT ${maxIds + 1} FORMAT LineAsString`,
        values: Readable.from(hashed, { objectMode: false }),
        // Otherwise, duplicates in a block would not be counted.
        clickhouse_settings: { optimize_on_insert: 0 },
        http_headers: isGzip ? { 'Content-Encoding': 'gzip' } : {},
        abort_signal: signal,
      })
      .catch((error: unknown) => {
        throw toLoadFailure(error, isGzip);
      });
    await finished(stream.resume());
    const ids = Number(summary?.written_rows ?? 0);
    requireListLength(ids, maxIds);
    await syncAllReplicas(engine, [listTable]);
    const ofList = `${listed(listId, listKind.requested)} AND partner_id = ${checkedId(partnerId ?? 0)}`;
    for (const shard of others)
      await shard.command({
        query: `INSERT INTO ${listTable} (${columns}) SELECT ${columns}
          FROM cluster('${engine.cluster}', currentDatabase(), ${listTable}) WHERE ${ofList}`,
      });
    await syncAllReplicas(engine, [listTable]);
    const invalidLines = Math.max(0, Number(summary?.read_rows ?? 0) - ids);
    return { ids, invalidLines, salt, digest: hash.digest('hex') };
  };

export async function countListed(engine: Engine, listId: number): Promise<number[]> {
  return onEveryShardInSync(engine, [listTable], (shard) =>
    selectNumber(shard, {
      query: `SELECT toString(count()) AS number FROM ${listTable} FINAL WHERE ${listed(listId, listKind.requested)}`,
    }),
  );
}

/** The tables with stand-ins, and the scope of each. Members in the shared stage have no scope until they are published. */
const publishedStandIns = [
  { table: 'device_attributes_local', scope: standInScope.attribute() },
  { table: 'audience_devices_local', scope: standInScope.audience() },
  { table: 'known_devices_local', scope: standInScope.known },
];
/** These tables belong to one replica. */
const stagedStandIns = [
  { table: 'staged_attributes_local', scope: standInScope.attribute() },
  { table: 'staged_devices_local', scope: standInScope.known },
];

/**
 * Adds the stand-ins of the requested devices to the list. Each shard lists those that it stores. The stand-ins of all
 * partners are listed, because a device stays known if another partner has it. Rows can be published later, so each
 * step repeats this.
 */
export async function listStandIns(engine: Engine, listId: number): Promise<void> {
  await syncAllReplicas(engine, [...publishedStandIns.map(({ table }) => table), listTable]);
  await onAllServers(engine, async (server) => {
    const key = await selectNumber(server, { query: 'SELECT toString(count()) AS number FROM stand_in_key_local' });
    // No device was ever suppressed.
    if (key === 0) return;
    const found = [...publishedStandIns, ...stagedStandIns].map(
      ({ table, scope }) =>
        `SELECT DISTINCT device, ${personOf('device')} AS person FROM ${table} WHERE ${mayBeStandIn()} AND ${isStandIn(scope)}`,
    );
    await server.command({
      query: `INSERT INTO ${listTable} (batch_id, kind, partner_id, device)
        SELECT ${checkedId(listId)}, ${listKind.standIn}, d.partner_id, s.device
        FROM (${found.join(' UNION ALL ')}) AS s INNER JOIN (
          SELECT partner_id, ${personOfHash(keyedHashOf('device'))} AS person FROM ${listTable}
          WHERE ${listed(listId, listKind.requested)}
        ) AS d ON s.person = d.person`,
    });
  });
  await syncAllReplicas(engine, [listTable]);
}

/** The parts of a rejected line that can be a device ID, with or without hyphens. */
export const idsInText = `arrayMap(found -> toUUIDOrZero(${hyphenated(`replaceAll(lower(found), '-', '')`)}),
  extractAll(text, '[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{12}'))`;

/** Hashes of a device as partners compute them: from the ID in lowercase, in uppercase, or without hyphens. */
const hashesOfDevice = `arrayFlatten(arrayMap(
  form -> [lower(hex(MD5(form))), lower(hex(SHA1(form))), lower(hex(SHA256(form)))],
  [toString(device), upper(toString(device)), replaceAll(toString(device), '-', '')]))`;
const hashesInText = `arrayMap(found -> lower(found), extractAll(text, '[0-9a-fA-F]{32,64}'))`;

/** The rows of several partners can have the same file ID only if the record of the file is gone. */
const ownersAtATime = 10_000;

type Found = { readonly partner: string; readonly file: string };

/** Only lines of loads that started before the batch are searched. Later lines belong to new imports. */
export async function findRejects(
  engine: Engine,
  { listId, partnerIds }: BatchScope,
  lastLoadId: number,
  ownersOf: ErasureQueue['ownersOf'],
): Promise<void> {
  const columns = 'batch_id, kind, partner_id, device, load_id, file_id, row';
  const isSearched = `load_id <= ${checkedId(lastLoadId)}`;
  const kind = partnerIds === null ? listKind.reject : listKind.foundReject;
  const insert = `INSERT INTO ${listTable} (${columns})
    SELECT ${checkedId(listId)}, ${kind}, d.partner_id, ${zeroDevice}, r.load_id, r.file_id, r.row`;
  const requested = `${listTable} WHERE ${listed(listId, listKind.requested)}`;
  await onEveryShardInSync(engine, [listTable, 'load_rejects_local'], async (shard) => {
    await shard.command({
      query: `${insert} FROM (SELECT partner_id, device FROM ${requested}) AS d INNER JOIN (
          SELECT arrayJoin(${idsInText}) AS device, load_id, file_id, row FROM load_rejects_local WHERE ${isSearched}
        ) AS r ON d.device = r.device`,
    });
    const hashed = `load_rejects_local WHERE ${isSearched} AND reason = 'hashed_id'`;
    if ((await selectNumber(shard, { query: `SELECT toString(count()) AS number FROM ${hashed}` })) === 0) return;
    await shard.command({
      query: `${insert} FROM (
          SELECT partner_id, arrayJoin(${hashesOfDevice}) AS hash FROM ${requested}
        ) AS d INNER JOIN (
          SELECT arrayJoin(${hashesInText}) AS hash, load_id, file_id, row FROM ${hashed}
        ) AS r ON d.hash = r.hash`,
    });
  });
  if (partnerIds !== null) await keepOwnRejects(engine, listId, ownersOf);
  await syncAllReplicas(engine, [listTable]);
}

/** A partner erases only lines of its own files. Lines of a file without a record belong to nobody else. */
async function keepOwnRejects(engine: Engine, listId: number, ownersOf: ErasureQueue['ownersOf']): Promise<void> {
  await onEveryShardInSync(engine, [listTable], async (shard) => {
    const found = await selectRows<Found>(
      shard,
      `SELECT DISTINCT toString(partner_id) AS partner, toString(file_id) AS file FROM ${listTable}
       WHERE ${listed(listId, listKind.foundReject)} ORDER BY partner_id, file_id`,
    );
    for (let start = 0; start < found.length; start += ownersAtATime) {
      const page = found.slice(start, start + ownersAtATime);
      const owners = await ownersOf(page.map(({ file }) => Number(file)));
      const own = page.filter(({ partner, file }) => (owners.get(Number(file)) ?? Number(partner)) === Number(partner));
      if (own.length === 0) continue;
      const pairs = own.map(({ partner, file }) => `(${checkedId(Number(partner))},${checkedId(Number(file))})`);
      await shard.command({
        query: `INSERT INTO ${listTable} (batch_id, kind, partner_id, device, load_id, file_id, row)
          SELECT batch_id, ${listKind.reject}, partner_id, device, load_id, file_id, row FROM ${listTable}
          WHERE ${listed(listId, listKind.foundReject)} AND (partner_id, file_id) IN (${pairs.join()})`,
        clickhouse_settings: { max_query_size: '4194304' },
      });
    }
  });
}
