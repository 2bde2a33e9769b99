import { setTimeout as pause } from 'node:timers/promises';
import { type ErasedRows, type RemainingRows, maxIdsPerFile } from '../../../domain/erasure.ts';
import type { BatchScope, ErasureEngine } from '../../../ports/erasure.ts';
import {
  type Engine,
  type Server,
  onAllServers,
  onEveryShardInSync,
  selectNumber,
  selectRows,
  syncAllReplicas,
} from '../connect.ts';
import { listLoadsWithStagingTables, stagingTableNames } from '../staging-tables.ts';
import { eraseFrom, exists } from './erase-table.ts';
import { eraseFromIndex, eraseKnownDevices, findImportedAgain, listFolded } from './erase-index.ts';
import {
  checkedId,
  hasDevice,
  hasRequested,
  isErased,
  isErasedReject,
  listKind,
  listTable,
  listed,
} from './erased-devices.ts';
import { addFile, addIds, countListed, dropList, findLists, findRejects, listStandIns } from './erasure-list.ts';

/** The published rows. `known_devices_next_local` exists while the known devices are rebuilt. */
const publishedTables = ['device_attributes_local', 'audience_devices_local'] as const;
const forgottenTables = [
  { table: 'known_devices_local', kind: listKind.unknown },
  { table: 'known_devices_next_local', kind: listKind.unknown },
  { table: 'device_numbers_local', kind: listKind.unnumbered },
] as const;

/** Tables whose parts can contain device IDs. */
const deviceTables = [
  ...publishedTables,
  ...forgottenTables.map(({ table }) => table),
  'load_rejects_local',
  'staged_attributes_local',
  'staged_members_local',
  'staged_devices_local',
  listTable,
];

export function clickhouseErasure(engine: Engine, maxIds = maxIdsPerFile): ErasureEngine {
  return {
    findLists: () => findLists(engine),
    dropList: (listId) => dropList(engine, listId),
    addIds: (listId, partnerId, ids) => addIds(engine, listId, partnerId, ids),
    addFile: addFile(engine, maxIds),
    countListed: (listId) => countListed(engine, listId),
    findRejects: (scope, lastLoadId, ownersOf) => findRejects(engine, scope, lastLoadId, ownersOf),
    countRows: (scope) => countRows(engine, scope),
    eraseRows: (scope, signal) => eraseRows(engine, scope, signal),
    untilWritten: (signal) => untilWritten(engine, signal),
    countStaged: (scope, lastLoadId) => countStaged(engine, scope, lastLoadId),
    countRemaining: (scope) => countRemaining(engine, scope),
    removeReplacedParts: () => removeReplacedParts(engine),
    countReplacedParts: (before) => countReplacedParts(engine, before),
    countDetachedParts: () => countDetachedParts(engine),
    eraseKnownDevices: (scope, signal) => eraseKnownDevices(engine, scope, signal),
    eraseFromIndex: (scope, folds, signal) => eraseFromIndex(engine, scope, folds, signal),
    listFolded: (firstFoldId) => listFolded(engine, firstFoldId),
    findImportedAgain: (scope) => findImportedAgain(engine, scope),
  };
}

/** The name of a table in proofs. */
function nameOf(table: string): string {
  return table.replace(/_local$/, '');
}

/** Counts the rows by partner, so that a partner's proof contains only its own. */
async function countRows(engine: Engine, scope: BatchScope): Promise<ErasedRows[]> {
  await listStandIns(engine, scope.listId);
  const ofPartner = 'toString(partner_id) AS partner, toString(count()) AS rows';
  const isListed = hasRequested(scope.listId);
  const rejects = `SELECT DISTINCT partner_id, load_id, file_id, row FROM ${listTable} WHERE ${listed(scope.listId, listKind.reject)}`;
  const queries: Readonly<Record<string, string>> = {
    ...Object.fromEntries(
      publishedTables.map((table) => [
        table,
        `SELECT ${ofPartner} FROM ${table} WHERE ${isErased(scope)} GROUP BY partner_id`,
      ]),
    ),
    load_rejects_local: `SELECT ${ofPartner} FROM (${rejects}) WHERE (load_id, file_id, row) IN (
        SELECT load_id, file_id, row FROM load_rejects_local WHERE ${isErasedReject(scope)}) GROUP BY partner_id`,
    known_devices_local: `SELECT '0' AS partner, toString(count()) AS rows FROM known_devices_local WHERE ${isListed}`,
    device_numbers_local: `SELECT '0' AS partner, toString(count()) AS rows FROM device_numbers_local WHERE ${isListed}`,
  };
  const counts: ErasedRows[] = [];
  for (const [table, query] of Object.entries(queries)) {
    const ofShards = await onEveryShardInSync(engine, [listTable, table], (shard) =>
      selectRows<{ partner: string; rows: string }>(shard, query),
    );
    for (const [index, found] of ofShards.entries())
      for (const { partner, rows } of found)
        counts.push({
          table: nameOf(table),
          shard: index + 1,
          partnerId: Number(partner),
          rows: Number(rows),
        });
  }
  return counts;
}

/** Runs one mutation per table on every shard. Returns when no replica has the rows. */
async function eraseRows(engine: Engine, scope: BatchScope, signal: AbortSignal): Promise<void> {
  await listStandIns(engine, scope.listId);
  await syncAllReplicas(engine, [listTable, ...publishedTables, 'load_rejects_local']);
  // These tables have one partition per partner.
  const own = scope.partnerIds ? { partitions: scope.partnerIds } : {};
  for (const table of publishedTables) await eraseFrom(engine, table, isErased(scope), signal, own);
  await eraseFrom(engine, 'load_rejects_local', isErasedReject(scope), signal);
}

/** Statements of a killed worker or command continue on the server. A rebuild of the known devices has no load. */
async function untilWritten(engine: Engine, signal: AbortSignal): Promise<void> {
  await onAllServers(engine, async (server) => {
    const running = await findWrites(server);
    while (running.size > 0 && (await findWrites(server)).intersection(running).size > 0)
      await pause(pollMs, undefined, { signal });
  });
}

const pollMs = 200;

async function findWrites(server: Server): Promise<Set<string>> {
  const rows = await selectRows<{ id: string }>(
    server,
    `SELECT query_id AS id FROM system.processes
     WHERE current_database = currentDatabase() AND match(query, '^\\\\s*INSERT INTO (known_devices|device_attributes|audience_devices)_')`,
  );
  return new Set(rows.map(({ id }) => id));
}

/**
 * Staged rows are not erased. Otherwise, the load would not find all its rows and would read its file again. They
 * disappear when the load is published or dropped. The tables without partners are searched for all listed devices.
 */
async function countStaged(engine: Engine, scope: BatchScope, lastLoadId: number): Promise<number> {
  const isListed = hasRequested(scope.listId);
  const count = (server: Server, table: string, condition: string): Promise<number> =>
    selectNumber(server, { query: `SELECT toString(count()) AS number FROM ${table} WHERE ${condition}` });
  const isEarlier = `load_id <= ${checkedId(lastLoadId)}`;
  await listStandIns(engine, scope.listId);
  const found = await onAllServers(engine, async (server) => {
    const counts = [
      await count(server, 'staged_attributes_local', `${isEarlier} AND ${isErased(scope)}`),
      await count(server, 'staged_members_local', `${isEarlier} AND ${isListed}`),
      await count(server, 'staged_devices_local', `${isEarlier} AND ${isListed}`),
    ];
    const loads = new Set((await listLoadsWithStagingTables(server)).filter((loadId) => loadId <= lastLoadId));
    for (const loadId of loads) {
      const { rows } = stagingTableNames(loadId);
      if (await exists(server, rows)) counts.push(await count(server, rows, isErased(scope)));
    }
    return counts.reduce((sum, rows) => sum + rows, 0);
  });
  return found.flat().reduce((sum, rows) => sum + rows, 0);
}

/** An unavailable replica is an error, because its rows are unknown. */
async function countRemaining(engine: Engine, scope: BatchScope): Promise<RemainingRows[]> {
  await listStandIns(engine, scope.listId);
  const conditions = [
    ...publishedTables.map((table) => ({ table, condition: isErased(scope) })),
    { table: 'load_rejects_local', condition: isErasedReject(scope) },
    ...forgottenTables.map(({ table, kind }) => ({ table, condition: hasDevice(scope.listId, kind) })),
  ];
  await syncAllReplicas(
    engine,
    [listTable, ...conditions.map(({ table }) => table)].filter((table) => table !== 'known_devices_next_local'),
  );
  const servers = await onAllServers(engine, async (server) => {
    const counts: { readonly table: string; readonly rows: number }[] = [];
    for (const { table, condition } of conditions) {
      if (table === 'known_devices_next_local' && !(await exists(server, table))) continue;
      const query = `SELECT toString(count()) AS number FROM ${table} WHERE ${condition}`;
      counts.push({ table: nameOf(table), rows: await selectNumber(server, { query }) });
    }
    return counts;
  });
  return servers.flatMap((replicas, shard) =>
    replicas.flatMap((counts, replica) =>
      counts.map(({ table, rows }) => ({ table, shard: shard + 1, replica: replica + 1, rows })),
    ),
  );
}

/**
 * Makes the engine delete the files of replaced parts that have reached their lifetime. An idle table can otherwise
 * keep them for many minutes, because its background task pauses. Dropping a partition, even one that does not exist,
 * deletes them. Replicated tables have their own task, which does not pause.
 */
async function removeReplacedParts(engine: Engine): Promise<void> {
  await onAllServers(engine, async (server) => {
    const tables = await selectRows<{ name: string }>(
      server,
      `SELECT name FROM system.tables
       WHERE database = currentDatabase() AND name IN ({tables: Array(String)}) AND NOT startsWith(engine, 'Replicated')`,
      { tables: deviceTables },
    );
    for (const { name } of tables) await server.command({ query: `ALTER TABLE ${name} DROP PARTITION ID 'none'` });
  });
}

/** The clocks of the servers can differ by this much. */
const clockSeconds = 60;

async function countReplacedParts(engine: Engine, before: Date): Promise<number> {
  return sumOverServers(
    engine,
    `SELECT toString(count()) AS number FROM system.parts
     WHERE NOT active AND database = currentDatabase() AND (table IN ({tables: Array(String)}) OR startsWith(table, 'room_'))
       AND remove_time <= fromUnixTimestamp({before: UInt32})`,
    { before: Math.floor(before.getTime() / 1000) + clockSeconds },
  );
}

async function countDetachedParts(engine: Engine): Promise<number> {
  return sumOverServers(
    engine,
    `SELECT toString(count()) AS number FROM system.detached_parts
     WHERE database = currentDatabase() AND table IN ({tables: Array(String)})`,
  );
}

async function sumOverServers(
  engine: Engine,
  query: string,
  parameters: Readonly<Record<string, unknown>> = {},
): Promise<number> {
  const counts = await onAllServers(engine, (server) =>
    selectNumber(server, { query, query_params: { tables: deviceTables, ...parameters } }),
  );
  return counts.flat().reduce((sum, parts) => sum + parts, 0);
}
