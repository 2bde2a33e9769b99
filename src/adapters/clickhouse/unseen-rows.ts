import { versionsOfJob } from '../../domain/job.ts';
import type { UnseenCount, UnseenRemoval, UnseenRows } from '../../ports/device-retention.ts';
import { type Engine, onAllServers, onEveryShardInSync, selectNumber, selectRows, syncAllReplicas } from './connect.ts';
import { checkedId } from './erasure/erased-devices.ts';
import { eraseFrom } from './erasure/erase-table.ts';

const table = 'device_attributes_local';

export function clickhouseUnseenRows(engine: Engine): UnseenRows {
  return {
    find: (removal) => find(engine, removal),
    remove: async (removal, signal) => {
      const partitions = [removal.partnerId];
      await syncAllReplicas(engine, [table]);
      // Parts are rewritten one after the other. If the mark of a deleted row were removed before the row, the row would be
      // visible in the meantime.
      await eraseFrom(engine, table, `${isUnseen(removal)} AND is_deleted = 0`, signal, { partitions });
      await eraseFrom(engine, table, isUnseen(removal), signal, { partitions });
    },
    countRemaining: async (removal) => {
      await syncAllReplicas(engine, [table]);
      const query = `SELECT toString(count()) AS number FROM ${table} WHERE ${isUnseen(removal)}`;
      const rows = await onAllServers(engine, (server) => selectNumber(server, { query }));
      return rows.flat().reduce((sum, one) => sum + one, 0);
    },
  };
}

/** A row has the version of the last job that wrote it. A later job of the partner has a higher version. */
function isUnseen({ partnerId, lastSeq }: UnseenRemoval): string {
  return `partner_id = ${checkedId(partnerId)} AND version <= ${checkedId(versionsOfJob(lastSeq).ofAdds)}`;
}

async function find(engine: Engine, removal: UnseenRemoval): Promise<UnseenCount> {
  const found = await onEveryShardInSync(engine, [table], (shard) =>
    selectRows<{ id: string; rows: string }>(
      shard,
      `SELECT toString(attribute_id) AS id, toString(count()) AS rows FROM ${table}
       WHERE ${isUnseen(removal)} GROUP BY attribute_id`,
    ),
  );
  const attributes = found.flat();
  return {
    rows: attributes.reduce((sum, { rows }) => sum + Number(rows), 0),
    attributeIds: [...new Set(attributes.map(({ id }) => Number(id)))],
  };
}
