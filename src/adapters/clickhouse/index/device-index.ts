import type { DeviceIndex } from '../../../ports/device-index.ts';
import {
  type Engine,
  onAvailableServers,
  onEveryShard,
  onEveryShardInSync,
  onEveryShardOnce,
  requireReplicated,
  syncAllReplicas,
} from '../connect.ts';
import { indexTables, replicatedTables } from '../migration-sql.ts';
import { untilApplied } from '../mutate.ts';
import { countMatched } from './count-matched.ts';
import { type Barrier, foldAttributes } from './fold-attributes.ts';
import { foldAudience } from './fold-audience.ts';
import { foldKnownDevices } from './fold-known-devices.ts';
import { foldOn, requireLease, restored } from './lease.ts';
import { listAudienceEvents } from './list-audience-events.ts';
import { type Session, inFoldSession, stopFolds } from './session.ts';
import { verifyShard } from './verify.ts';

/** The ID of the partition of a table that is not partitioned. */
const onlyPartition = 'all';

/** The tables can be larger than the limit that protects tables from being dropped by mistake. */
const dropAnySize = { max_table_size_to_drop: '0' };

async function highestFoldOf(session: Session): Promise<number> {
  const [row] = await session.rows<{ fold: string }>(
    `SELECT toString(greatest((SELECT max(lease_id) FROM index_lease_local), (SELECT max(fold_id) FROM attribute_bitmaps_local),
       (SELECT max(fold_id) FROM audience_bitmaps_local))) AS fold`,
  );
  return Number(row?.fold ?? 0);
}

/**
 * Makes all shards wait for each other before they write bitmaps. Most of the work that can fail comes before this
 * point and changes no bitmap. If one shard fails, the others write nothing, because a partial fold would delay the
 * reports of all partners.
 */
function barrier(shards: number): Barrier & { readonly fail: (error: unknown) => void } {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  promise.catch(() => undefined);
  let missing = shards;
  return {
    wait: () => {
      missing -= 1;
      if (missing === 0) resolve();
      return promise;
    },
    fail: reject,
  };
}

export function clickhouseDeviceIndex(engine: Engine): DeviceIndex {
  const highestFold = async (): Promise<number> =>
    Math.max(
      ...(await onEveryShardOnce(engine, [...indexTables, 'index_lease_local'], (shard) =>
        inFoldSession(shard, highestFoldOf),
      )),
    );
  /** Like the rows of a load, a fold is recorded only after enough replicas have it. */
  const requireIndexReplicated = async (): Promise<void> => {
    for (const table of indexTables) await requireReplicated(engine, table);
  };
  const requireLeaseOnShards = async (leaseId: number): Promise<void> => {
    await onEveryShardOnce(engine, ['index_lease_local'], (shard) =>
      inFoldSession(shard, (session) => requireLease(session, leaseId)),
    );
  };
  return {
    highestFold,
    takeLease: async (leaseId) => {
      const highest = await highestFold();
      // ClickHouse keeps the bitmaps with the highest fold ID, so bitmaps written with a lower ID would be lost.
      if (highest >= leaseId)
        throw new Error(`the device index contains fold ${highest}, which is later than ${leaseId}. ${restored}`);
      await onEveryShard(engine, (shard) =>
        shard.insert({ table: 'index_lease_local', values: [{ lease_id: leaseId }], format: 'JSONEachRow' }),
      );
      // A replica that does not have the new lease yet would still let an earlier worker write.
      await syncAllReplicas(engine, ['index_lease_local']);
      await stopFolds(engine);
      // An interrupted erasure can still be removing numbers, which a fold would use or assign again.
      await onAvailableServers(engine, (server) => untilApplied(server, 'device_numbers_local', [onlyPartition]));
      await requireLeaseOnShards(leaseId);
    },
    requireLease: requireLeaseOnShards,
    foldKnownDevices: async (fold, folded) => {
      const blocks = await onEveryShardOnce(
        engine,
        [...indexTables, 'index_lease_local', 'known_devices_local'],
        (shard, index) => foldOn(shard, fold, (session) => foldKnownDevices(session, fold, folded[index])),
      );
      await requireIndexReplicated();
      return blocks;
    },
    foldAttributes: async (fold, changed) => {
      const collected = barrier(engine.shards.length);
      await onEveryShardOnce(engine, [...indexTables, 'index_lease_local', 'device_attributes_local'], (shard) =>
        foldOn(shard, fold, (session) => foldAttributes(session, fold, changed, collected)).catch((error: unknown) => {
          collected.fail(error);
          throw error;
        }),
      );
      await requireIndexReplicated();
    },
    foldAudience: async (fold, members) => {
      const events = await listAudienceEvents(engine, members);
      const devices = await onEveryShardOnce(
        engine,
        [...indexTables, 'index_lease_local', 'audience_devices_local'],
        (shard) => foldOn(shard, fold, (session) => foldAudience(session, fold, members, events)),
      );
      await requireIndexReplicated();
      return devices.reduce((sum, ofShard) => sum + ofShard, 0);
    },
    countMatched: (audiences) => countMatched(engine, audiences),
    verify: async (audiences) =>
      (
        await onEveryShardInSync(engine, [...replicatedTables], (shard, index) =>
          // The separate query prefix keeps workers from stopping the verification when they stop earlier folds.
          inFoldSession(shard, (session) => verifyShard(session, index + 1, audiences), 'inlet-verify-'),
        )
      ).flat(),
    clear: async () => {
      for (const table of indexTables)
        await onEveryShard(engine, (shard) =>
          shard.command({ query: `TRUNCATE TABLE ${table} SYNC`, clickhouse_settings: dropAnySize }),
        );
    },
  };
}
