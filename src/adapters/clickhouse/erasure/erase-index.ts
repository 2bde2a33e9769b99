import type { Fold } from '../../../ports/device-index.ts';
import type { BatchScope, ErasedFolds, ImportedAgain } from '../../../ports/erasure.ts';
import {
  type Engine,
  onAllServers,
  onEveryShardInSync,
  onEveryShardOnce,
  selectRows,
  syncAllReplicas,
} from '../connect.ts';
import { chunkOf, contentOf, hasLease, hasLeaseOf, leaseParameters } from '../index/device-numbers.ts';
import { isKnownDevices } from '../index/fold-known-devices.ts';
import { foldOn } from '../index/lease.ts';
import { type Session, newFoldQueryId } from '../index/session.ts';
import { knownStandIn, standInScope } from '../stand-in-sql.ts';
import { indexTables } from '../migration-sql.ts';
import { eraseFrom, exists } from './erase-table.ts';
import { dropKinds, listStandIns } from './erasure-list.ts';
import { hasDevice, hasRequested, isErased, isRequested, listKind, listTable, listed } from './erased-devices.ts';

/** Which bitmaps lose the numbers in `removed_devices`. */
const scopeOf = { everywhere: 0, partner: 1, known: 2 } as const;

/**
 * Removes the devices from the known devices, except devices that another partner still holds. Folds can run in the
 * meantime. They may read devices that are being removed, and `eraseFromIndex` removes these from the bitmaps.
 */
export async function eraseKnownDevices(engine: Engine, { listId }: BatchScope, signal: AbortSignal): Promise<void> {
  await listStandIns(engine, listId);
  await listForgotten(engine, listId, listKind.unknown, liveDevices(engine, listId));
  const isUnknown = hasDevice(listId, listKind.unknown);
  await eraseFrom(engine, 'known_devices_local', isUnknown, signal);
  // A rebuild of the known devices may have copied the devices before they were erased.
  const next = 'known_devices_next_local';
  const isRebuilding = (await onAllServers(engine, (server) => exists(server, next))).flat();
  if (isRebuilding.some(Boolean)) await eraseFrom(engine, next, isUnknown, signal);
  await restoreKnown(engine, listId);
}

/**
 * Removes the devices from the index, after they were removed from the known devices. The caller holds the lease, so that
 * no fold runs in the meantime. A device that any partner still holds stays numbered. The bits are removed before the
 * numbers, because the number of a removed device can be assigned again.
 */
export async function eraseFromIndex(
  engine: Engine,
  scope: BatchScope,
  folds: { readonly everywhere: Fold; readonly ofPartners: Fold },
  signal: AbortSignal,
): Promise<void> {
  const { listId } = scope;
  await listForgotten(engine, listId, listKind.unnumbered, storedDevices(listId));
  const fold = folds.everywhere;
  await onEveryShardOnce(engine, [listTable, ...indexTables, 'index_lease_local', 'known_devices_local'], (shard) =>
    foldOn(shard, fold, (session) => removeBits(session, scope, folds)),
  );
  await syncAllReplicas(engine, indexTables);
  await eraseNumbers(engine, listId, fold, signal);
}

/**
 * A number can be assigned again, so the numbers stay if another worker has taken the lease. That worker stops the
 * statement that starts the mutation, or waits until the mutation has ended. A statement that starts later does not
 * have the lease. The engine evaluates the condition when it receives the statement, so that all replicas erase the
 * same numbers.
 */
async function eraseNumbers(engine: Engine, listId: number, fold: Fold, signal: AbortSignal): Promise<void> {
  const condition = `${hasLeaseOf(fold)} AND ${hasDevice(listId, listKind.unnumbered)}`;
  await eraseFrom(engine, 'device_numbers_local', condition, signal, {
    statement: {
      query_id: newFoldQueryId(),
      clickhouse_settings: { mutations_execute_subqueries_on_initiator: 1 },
    },
  });
  await onEveryShardOnce(engine, ['index_lease_local'], (shard) => foldOn(shard, fold, () => Promise.resolve()));
}

/**
 * An import may have published a device after the device was listed as unknown. The mutation has then removed a device
 * that is known again. An import adds its devices after its rows, so devices that it adds later do not have to be
 * restored. All requested devices are searched, because an earlier attempt may have ended after its mutation.
 */
async function restoreKnown(engine: Engine, listId: number): Promise<void> {
  const known = `SELECT device FROM known_devices_local WHERE ${hasRequested(listId)}`;
  await onEveryShardInSync(engine, [listTable, 'device_attributes_local', 'known_devices_local'], (shard) =>
    shard.command({
      query: `INSERT INTO known_devices_local (device)
        SELECT DISTINCT device FROM (${liveDevices(engine, listId)}) WHERE device NOT IN (${known})`,
    }),
  );
  await syncAllReplicas(engine, ['known_devices_local']);
}

/**
 * The requested devices that have a current attribute from any partner. A stand-in counts as the known device to which
 * it belongs.
 */
function liveDevices(engine: Engine, listId: number): string {
  return `SELECT ${knownStandIn(standInScope.attribute(), engine.shards.length)} AS device FROM (
      SELECT attribute_id, device, argMax(is_deleted, version) AS is_gone FROM device_attributes_local
      WHERE ${hasRequested(listId)} GROUP BY partner_id, attribute_id, device
    ) WHERE NOT is_gone`;
}

/** The requested devices that have any row. */
function storedDevices(listId: number): string {
  return ['device_attributes_local', 'audience_devices_local', 'known_devices_local']
    .map((table) => `SELECT device FROM ${table} WHERE ${hasRequested(listId)}`)
    .join(' UNION ALL ');
}

/** Lists the requested devices that are in none of the rows. The list is stored, because replicas must agree on it. */
async function listForgotten(engine: Engine, listId: number, kind: number, kept: string): Promise<void> {
  const tables = [listTable, 'device_attributes_local', 'audience_devices_local', 'known_devices_local'];
  // In an earlier round, other devices may have had no rows.
  await dropKinds(engine, listId, [kind]);
  await syncAllReplicas(engine, tables);
  await onEveryShardInSync(engine, tables, (shard) =>
    shard.command({
      query: `INSERT INTO ${listTable} (batch_id, kind, device) SELECT batch_id, ${kind}, device FROM ${listTable}
        WHERE ${isRequested(listId)} AND device NOT IN (${kept})`,
    }),
  );
  await syncAllReplicas(engine, [listTable]);
}

async function removeBits(
  session: Session,
  scope: BatchScope,
  folds: { readonly everywhere: Fold; readonly ofPartners: Fold },
): Promise<void> {
  const { listId, partnerIds } = scope;
  await session.run(`CREATE TEMPORARY TABLE removed_devices (
    scope UInt8, partner_id UInt64, chunk UInt16, devices AggregateFunction(groupBitmap, UInt32)) ENGINE = Memory`);
  const numbers = `SELECT device, number FROM device_numbers_local WHERE ${hasRequested(listId)}`;
  const collect = (of: number, devices: string): Promise<number> =>
    session.run(
      `INSERT INTO removed_devices SELECT ${of}, d.partner_id, ${chunkOf('n.number')} AS chunk, groupBitmapState(n.number)
       FROM (${numbers}) AS n INNER JOIN (${devices}) AS d ON n.device = d.device GROUP BY d.partner_id, chunk`,
      { settings: { join_algorithm: 'full_sorting_merge' } },
    );
  const requested = `FROM ${listTable} WHERE ${listed(listId, listKind.requested)}`;
  // For all partners, every bitmap loses every requested device, even if the device was imported again. The caller
  // notes these devices.
  const everywhere = partnerIds === null ? listKind.requested : listKind.unnumbered;
  await collect(
    scopeOf.everywhere,
    `SELECT DISTINCT toUInt64(0) AS partner_id, device FROM ${listTable} WHERE ${listed(listId, everywhere)}`,
  );
  if (partnerIds !== null) await collect(scopeOf.partner, `SELECT DISTINCT partner_id, device ${requested}`);
  const isKnown = `device IN (SELECT device FROM known_devices_local WHERE ${hasRequested(listId)})`;
  await collect(scopeOf.known, `SELECT DISTINCT toUInt64(0) AS partner_id, device ${requested} AND NOT ${isKnown}`);
  await removeFromBitmaps(session, folds.everywhere, scopeOf.everywhere);
  if (partnerIds !== null) await removeFromBitmaps(session, folds.ofPartners, scopeOf.partner);
}

type Bitmaps = { readonly table: string; readonly key: string; readonly condition: string; readonly scope: number };

/** Writes the bitmaps that contain one of the numbers again, without the numbers. */
async function removeFromBitmaps(session: Session, fold: Fold, scope: number): Promise<void> {
  const all: Bitmaps[] = [
    {
      table: 'attribute_bitmaps_local',
      key: 'partner_id, attribute_id, country, id_type, chunk',
      condition: 'partner_id > 0',
      scope,
    },
    {
      table: 'audience_bitmaps_local',
      key: 'partner_id, audience_id, generation, kind, event, chunk',
      condition: 'true',
      scope,
    },
  ];
  const known: Bitmaps = {
    table: 'attribute_bitmaps_local',
    key: 'partner_id, attribute_id, country, id_type, chunk',
    condition: isKnownDevices,
    scope: scopeOf.known,
  };
  for (const { table, key, condition, scope: of } of scope === scopeOf.everywhere ? [...all, known] : all) {
    const columns = key.split(', ').map((name) => `b.${name} AS ${name}`);
    const isSame = of === scopeOf.partner ? 'b.chunk = r.chunk AND b.partner_id = r.partner_id' : 'b.chunk = r.chunk';
    await session.run(
      `INSERT INTO ${table} (${key}, devices, content, fold_id)
       SELECT ${key}, kept, ${contentOf('kept')}, {fold: UInt64} FROM (
         SELECT ${columns.join(', ')}, bitmapAndnot(b.devices, r.devices) AS kept
         FROM (SELECT ${key}, devices FROM ${table} FINAL WHERE ${condition}) AS b
         INNER JOIN (SELECT partner_id, chunk, devices FROM removed_devices WHERE scope = ${of}) AS r ON ${isSame}
         WHERE bitmapAndCardinality(b.devices, r.devices) > 0
       ) WHERE ${hasLease}`,
      { parameters: leaseParameters(fold) },
    );
  }
}

/** Returns every partner and audience whose bitmaps were written by this fold or a later one. */
export async function listFolded(engine: Engine, firstFoldId: number): Promise<ErasedFolds> {
  const parameters = { fold: firstFoldId };
  const partners = await onEveryShardInSync(engine, indexTables, (shard) =>
    selectRows<{ partner: string; fold: string }>(
      shard,
      `SELECT toString(partner_id) AS partner, toString(max(fold_id)) AS fold FROM attribute_bitmaps_local
       WHERE fold_id >= {fold: UInt64} GROUP BY partner_id`,
      parameters,
    ),
  );
  const audiences = await onEveryShardInSync(engine, indexTables, (shard) =>
    selectRows<{ audience: string; generation: number; fold: string; devices: string }>(
      shard,
      `SELECT toString(audience_id) AS audience, generation, toString(max(fold_id)) AS fold,
         toString(sum(if(kind = 0, bitmapCardinality(devices), 0))) AS devices
       FROM audience_bitmaps_local FINAL
       WHERE (partner_id, audience_id, generation) IN (
         SELECT partner_id, audience_id, generation FROM clusterAllReplicas('${engine.cluster}', currentDatabase(), audience_bitmaps_local)
         WHERE fold_id >= {fold: UInt64})
       GROUP BY audience_id, generation`,
      parameters,
    ),
  );
  return {
    partners: [...Map.groupBy(partners.flat(), ({ partner }) => partner)].map(([partner, folds]) => ({
      partnerId: Number(partner),
      foldId: Math.max(...folds.map(({ fold }) => Number(fold))),
    })),
    audiences: [
      ...Map.groupBy(audiences.flat(), ({ audience, generation }) => `${audience} ${generation}`).values(),
    ].flatMap((ofShards) => {
      const [first] = ofShards;
      if (!first) return [];
      return {
        audienceId: Number(first.audience),
        generation: first.generation,
        foldId: Math.max(...ofShards.map(({ fold }) => Number(fold))),
        devices: ofShards.reduce((sum, { devices }) => sum + Number(devices), 0),
      };
    }),
  };
}

/** The bitmaps of these attributes and audiences have lost devices that have rows again. */
export async function findImportedAgain(engine: Engine, scope: BatchScope): Promise<ImportedAgain> {
  const attributes = await onEveryShardInSync(engine, [listTable, 'device_attributes_local'], (shard) =>
    selectRows<{ partner: string; id: string }>(
      shard,
      `SELECT DISTINCT toString(partner_id) AS partner, toString(attribute_id) AS id FROM device_attributes_local WHERE ${isErased(scope)}`,
    ),
  );
  const audiences = await onEveryShardInSync(engine, [listTable, 'audience_devices_local'], (shard) =>
    selectRows<{ partner: string; id: string }>(
      shard,
      `SELECT DISTINCT toString(partner_id) AS partner, toString(audience_id) AS id FROM audience_devices_local WHERE ${isErased(scope)}`,
    ),
  );
  return {
    attributes: attributes.flat().map(({ partner, id }) => ({ partnerId: Number(partner), attributeId: Number(id) })),
    audiences: audiences.flat().map(({ partner, id }) => ({ partnerId: Number(partner), audienceId: Number(id) })),
  };
}
