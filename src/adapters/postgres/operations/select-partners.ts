import { sql } from 'kysely';
import type { PartnerId } from '../../../domain/ids.ts';
import type { OperatorReads, PartnerState } from '../../../ports/operations.ts';
import type { Database } from '../db/tables.ts';
import { countsAsOpen } from '../open-jobs.ts';
import { selectUsages } from '../usage-store.ts';

type Row = {
  id: PartnerId;
  name: string;
  created_at: Date;
  suspended_at: Date | null;
  device_days: number | null;
  open_jobs: number;
  valid_keys: number;
  all_keys: number;
  last_active_at: Date | null;
};

type Page = Parameters<OperatorReads['listPartners']>[0];

export async function listPartners(db: Database, { afterId, limit }: Page): Promise<PartnerState[]> {
  const { rows } = await sql<Row>`
    SELECT p.id, p.name, p.created_at, p.suspended_at, p.device_days, k.valid_keys, k.all_keys,
      (SELECT count(*) FROM job WHERE partner_id = p.id AND ${countsAsOpen('job')}) AS open_jobs,
      greatest(k.last_used_at,
        (SELECT created_at FROM job WHERE partner_id = p.id ORDER BY seq DESC LIMIT 1)) AS last_active_at
    FROM partner p
    CROSS JOIN LATERAL (
      SELECT count(*) AS all_keys, max(last_used_at) AS last_used_at,
        count(*) FILTER (WHERE revoked_at IS NULL AND coalesce(expires_at > now(), true)) AS valid_keys
      FROM api_key WHERE partner_id = p.id
    ) k
    WHERE p.id > ${afterId}
    ORDER BY p.id LIMIT ${limit}
  `.execute(db);
  const usages = await selectUsages(
    db,
    rows.map(({ id }) => id),
  );
  return rows.flatMap((row) => {
    const usage = usages.get(row.id);
    if (!usage) return [];
    return {
      id: row.id,
      name: row.name,
      createdAt: row.created_at,
      suspendedAt: row.suspended_at,
      deviceDays: row.device_days,
      openJobs: row.open_jobs,
      apiKeys: { valid: row.valid_keys, all: row.all_keys },
      lastActiveAt: row.last_active_at,
      usage,
    };
  });
}
