import { sql } from 'kysely';
import type { PartnerId } from '../../domain/ids.ts';
import type { PartnerUsage } from '../../domain/quota.ts';
import type { UsageStore } from '../../ports/usage-store.ts';
import type { StoredData } from '../../ports/warehouse.ts';
import type { Database, Tx } from './db/tables.ts';

export function postgresUsageStore(db: Database): UsageStore {
  return {
    read: (partnerId) => selectUsage(db, partnerId),
    recordStoredData: (measured) => recordStoredData(db, measured),
    recordIdempotencyKeys: async () => {
      await sql`
        INSERT INTO partner_usage (partner_id, idempotency_keys, keys_measured_at)
        SELECT partner.id, coalesce(recorded.keys, 0), now()
        FROM partner LEFT JOIN (
          SELECT partner_id, count(*) AS keys FROM accepted_request GROUP BY partner_id
        ) AS recorded ON recorded.partner_id = partner.id
        ON CONFLICT (partner_id) DO UPDATE
        SET idempotency_keys = excluded.idempotency_keys, keys_measured_at = excluded.keys_measured_at`.execute(db);
    },
  };
}

type Row = {
  id: PartnerId;
  audiences: number;
  attributes: number;
  foreign_keys: number;
  webhooks: number;
  subscriptions: number;
  stored_rows: number | null;
  stored_bytes: number | null;
  storage_measured_at: Date | null;
  idempotency_keys: number | null;
  keys_measured_at: Date | null;
};

export async function selectUsage(db: Database | Tx, partnerId: PartnerId): Promise<PartnerUsage> {
  const usage = (await selectUsages(db, [partnerId])).get(partnerId);
  if (!usage) throw new Error(`there is no partner ${partnerId}`);
  return usage;
}

export async function selectUsages(
  db: Database | Tx,
  partnerIds: readonly PartnerId[],
): Promise<ReadonlyMap<PartnerId, PartnerUsage>> {
  const { rows } = await sql<Row>`
    SELECT partner.id, coalesce((SELECT used FROM audiences_of(partner.id) AS used), 0) AS audiences,
      (SELECT count(*) FROM attribute WHERE partner_id = partner.id) AS attributes,
      (SELECT count(*) FROM attribute_foreign_key WHERE partner_id = partner.id) AS foreign_keys,
      (SELECT count(*) FROM webhook WHERE partner_id = partner.id AND deleted_at IS NULL) AS webhooks,
      (SELECT count(*) FROM subscription WHERE partner_id = partner.id AND deleted_at IS NULL) AS subscriptions,
      measured.stored_rows, measured.stored_bytes, measured.storage_measured_at,
      measured.idempotency_keys, measured.keys_measured_at
    FROM partner LEFT JOIN partner_usage measured ON measured.partner_id = partner.id
    WHERE partner.id = ANY(${partnerIds}::bigint[])
  `.execute(db);
  return new Map(rows.map((row) => [row.id, toUsage(row)]));
}

function toUsage(row: Row): PartnerUsage {
  const counted = (used: number) => ({ used, measuredAt: null });
  return {
    storedRows: { used: row.stored_rows ?? 0, measuredAt: row.storage_measured_at },
    storedBytes: { used: row.stored_bytes ?? 0, measuredAt: row.storage_measured_at },
    audiences: counted(row.audiences),
    attributes: counted(row.attributes),
    foreignKeys: counted(row.foreign_keys),
    webhooks: counted(row.webhooks),
    subscriptions: counted(row.subscriptions),
    idempotencyKeys: { used: row.idempotency_keys ?? 0, measuredAt: row.keys_measured_at },
  };
}

async function recordStoredData(db: Database, measured: readonly StoredData[]): Promise<void> {
  await sql`
    INSERT INTO partner_usage (partner_id, stored_rows, stored_bytes, storage_measured_at)
    SELECT partner.id, coalesce(measured.rows, 0), coalesce(measured.bytes, 0), now()
    FROM partner LEFT JOIN unnest(
      ${measured.map(({ partnerId }) => partnerId)}::bigint[], ${measured.map(({ rows }) => rows)}::bigint[],
      ${measured.map(({ bytes }) => bytes)}::bigint[]
    ) AS measured (partner_id, rows, bytes) ON measured.partner_id = partner.id
    ON CONFLICT (partner_id) DO UPDATE
    SET stored_rows = excluded.stored_rows, stored_bytes = excluded.stored_bytes,
        storage_measured_at = excluded.storage_measured_at`.execute(db);
}
